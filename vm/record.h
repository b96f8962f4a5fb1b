/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Records of the result channel between the guest's init and the host.
 *
 * One record is one line: "SEQ BODY *CRC\n". SEQ counts from 1 without gaps and
 * CRC is the CRC-32 of "SEQ BODY" in eight hexadecimal digits. A record that is
 * lost, cut or altered is therefore seen by the reader, who must not pass a run
 * on the strength of records it cannot trust.
 *
 * Bodies, in the order in which they occur:
 *   boot RELEASE TESTS            init is up, TESTS jobs will be run
 *   alive                         heartbeat, at any time
 *   start NAME                    the job NAME begins
 *   end NAME HOW CODE MS BYTES CRC LOST
 *                                 HOW is exit, signal or timeout. BYTES and CRC
 *                                 describe the log as the guest wrote it, LOST
 *                                 counts bytes beyond the size limit.
 *   stuck NAME                    the job cannot be killed, nothing follows
 *   error TEXT                    the guest cannot run its jobs, nothing follows
 *   final TESTS RECORDS TAINT     all done; RECORDS includes this one
 */
#ifndef VM_RECORD_H
#define VM_RECORD_H

#include <stddef.h>
#include <stdint.h>

#define RECORD_PORT "org.bpf-stacks.result"
#define RECORD_MAX 512

/* Continues @crc (0 to begin) over @len bytes. */
uint32_t record_crc32(uint32_t crc, const void *data, size_t len);

/*
 * Writes the record into @line with its newline. Returns its length, or 0 if
 * @body does not fit or contains a newline.
 */
size_t record_format(char line[RECORD_MAX], unsigned int seq, const char *body);

/*
 * Checks @line (terminated, without newline) and returns its body, which is
 * terminated in place; NULL if the line is not the record number @seq.
 */
char *record_check(char *line, unsigned int seq);

#endif
