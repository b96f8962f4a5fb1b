# SPDX-License-Identifier: GPL-2.0
"""Results of the parts of a test, read from what the test printed.

This code does not trust the text. Text is bytes decoded as Latin-1, so that no byte fails
or is lost.
"""
import re

PASSED, FAILED, SKIPPED = "pass", "fail", "skip"
BLANKS = " \t\n\v\f\r"  # not what else Unicode has
RESULT = re.compile(r"(not )?ok ([0-9]+)(?: +|$)(?:-(?: +|$))?(.*)", re.DOTALL)
PLAN = re.compile(r"1\.\.([0-9]+)")
DIRECTIVE = re.compile(r"(SKIP|XFAIL|TODO|TIMEOUT|ERROR)(?![A-Za-z0-9])[ :]*", re.IGNORECASE)
PROGS = re.compile(r"#([0-9/]+) +(.+):(OK|FAIL|SKIP)")
SUMMARY = re.compile(r"Summary: ([0-9]+)/([0-9]+) PASSED.*, ([0-9]+)/([0-9]+) FAILED[^,]*")


def number(digits):
    """A number too long to be meant equals no other."""
    return int(digits) if len(digits) < 19 else -1


class Results:
    """@rows: (name, verdict, reason or None) of each leaf; @error: why they are not complete"""

    def __init__(self):
        self.rows, self.error = [], None

    def fail(self, error):
        self.error = self.error or error    # the first one

    def add(self, name, verdict, reason=None):
        self.rows.append((name or "unnamed", verdict, reason or None))

    def count(self, verdict, first=0):
        return sum(row[1] == verdict for row in self.rows[first:])


class Level:
    """One open KTAP document; a nested one belongs to a result line still to come."""

    def __init__(self, indent, first):
        self.indent, self.first, self.plan, self.seen = indent, first, None, 0


def cut_comment(text):
    """The name, with its escapes resolved, and the comment behind it or None"""
    match = re.match(r"((?:\\[#\\]|[^#])*)(?:# *(.*))?", text, re.DOTALL)
    return re.sub(r"\\([#\\])", r"\1", match[1]).rstrip(BLANKS), match[2]


class Ktap(Results):
    """Reads KTAP (Documentation/dev-tools/ktap.rst). Leaves get names like "suite/case". A
    tree that is not complete (no plan, more or fewer results than planned, a number out of
    order, an open subtest at the end) is an error. With @loose, there may be other output,
    several documents or none, without headers and plans.
    """

    def __init__(self, text, loose=False):
        super().__init__()
        self.levels, self.ended, self.loose = [], False, loose
        for line in text.split("\n"):
            self.line(line.rstrip(BLANKS))
            if self.ended:
                return
        if loose:
            while self.levels:
                self.pop()
            return
        if not self.levels:
            self.fail("no KTAP in the output")
            return
        if len(self.levels) > 1:
            self.fail("ends inside a subtest")
        if self.levels[0].plan is None:
            self.fail("no plan")
        del self.levels[1:]
        self.pop()
        if not self.rows:
            self.fail("no result in the output")

    def line(self, line):
        text = line.lstrip(" ")
        indent = len(line) - len(text)
        if text.startswith(("KTAP version ", "TAP version ")):
            self.header(indent)
        elif match := PLAN.match(text):
            self.plan(indent, number(match[1]), text[match.end():])
        elif text.startswith("Bail out!"):
            self.fail("bailed out:" + text[len("Bail out!"):])
            self.ended = True
        elif match := RESULT.fullmatch(text):
            self.result(indent, not match[1], number(match[2]), *cut_comment(match[3]))

    def begin(self, indent):
        while self.levels and self.levels[-1].indent >= indent:
            self.pop()
        self.levels.append(Level(indent, len(self.rows)))

    def header(self, indent):
        if self.loose:
            self.begin(indent)
        elif self.levels and indent <= self.levels[-1].indent:
            self.fail("a KTAP header where a result was expected")
        else:
            self.begin(indent)

    def plan(self, indent, count, rest):
        here = self.levels and self.levels[-1].indent == indent
        if self.loose and not (here and self.levels[-1].plan is None):
            self.begin(indent)
        if not self.levels or self.levels[-1].indent != indent:
            return
        if self.levels[-1].plan is not None:
            self.fail("two plans")
        self.levels[-1].plan = count
        _, skip, reason = rest.partition("# SKIP ")
        if not count and len(self.levels) == 1 and skip:
            self.add("all", SKIPPED, reason)

    def pop(self):
        """Checks that the innermost level is complete and leaves it. Returns its first result."""
        level = self.levels.pop()
        if level.plan is not None and level.seen != level.plan:
            self.fail(f"{level.seen} results of {level.plan} planned")
        return level.first

    def result(self, indent, good, at, name, comment):
        if not self.levels or indent > self.levels[-1].indent:
            if not self.loose:
                # No document is open there: output of the test. It may not hide a failure.
                if not good:
                    self.fail(f"{name} failed outside of a document")
                return
            self.begin(indent)
        children = len(self.rows)
        while len(self.levels) > (not self.loose) and indent < self.levels[-1].indent:
            children = self.pop()
        if self.loose and (not self.levels or self.levels[-1].indent < indent or
                           at == 1 and self.levels[-1].seen):
            self.begin(indent)  # another document, without a header
        level = self.levels[-1]
        if indent != level.indent:
            if not good:
                self.fail(f"{name} failed outside of a document")
            return
        level.seen += 1
        if at != level.seen:
            self.fail(f"result {at} where {level.seen} was expected")
        failed = self.count(FAILED, children)
        # test_progs puts the name of a test before the name of its part.
        self.rows[children:] = [(row[0] if f"{row[0]}/".startswith(f"{name}/") else f"{name}/{row[0]}",
                                 *row[1:]) for row in self.rows[children:]]
        # A parent counts by its children, unless it says otherwise than they.
        skipped = self.loose and DIRECTIVE.match(comment or "") and not self.count(SKIPPED, children)
        if len(self.rows) == children or not (good or failed) or skipped:
            self.leaf(good, name, comment)
        elif good and failed:
            self.add(name, FAILED, "is ok although a part of it is not")

    def leaf(self, good, name, comment):
        match = DIRECTIVE.match(comment or "")
        kind, reason = (match[1].upper(), comment[match.end():]) if match else ("", comment)
        if not good or kind not in ("SKIP", "XFAIL", "TODO"):
            self.add(name, PASSED if good else FAILED, reason)
        else:
            expected = "expected failure: " if kind == "XFAIL" else ""
            self.add(name, SKIPPED, expected + (reason or "no reason given"))


class TestProgs(Results):
    """Reads what test_progs of the BPF selftests prints: lines "#N[/M] NAME:OK|FAIL|SKIP",
    and the summary, with which they must agree.
    """

    def __init__(self, text):
        super().__init__()
        self.seen, self.skip, self.summary = set(), None, False
        self.subs = 0   # first result of the subtests whose test is still to come
        self.counts = [0, 0, 0, 0]  # passed, subtests passed, failed, subtests failed
        for line in text.split("\n"):
            self.line(line.rstrip(BLANKS))
        if not self.summary:
            self.fail("no summary in the output")
        if not self.rows:
            self.fail("no result in the output")

    def line(self, line):
        if line.startswith("Summary: "):
            self.check(SUMMARY.fullmatch(line))
            return
        # " (not built)" or " (SKIP: 1/2)" at the end of a test's line
        bare, not_built, _ = line.partition(" (not built)")
        if not not_built or not bare.endswith(":SKIP"):
            bare, not_built = re.sub(r":OK \(SKIP: .*\)$", ":OK", line), ""
        if match := PROGS.fullmatch(bare):
            self.result(*match.groups(), not_built.strip(" ()"))
        elif ":SKIP:" in line:
            self.skip = line.partition(":SKIP:")[2]     # of the test whose line follows

    def result(self, key, name, word, note):
        if key in self.seen:
            return  # the error logs at the end repeat the lines of failed tests
        self.seen.add(key)
        sub = "/" in key
        if word != "SKIP" or not (sub or note):     # a skipped test counts as passed
            self.counts[2 * (word == "FAIL") + sub] += 1
        # A test counts by its subtests, unless it failed and none of them did.
        if sub or len(self.rows) == self.subs or \
                word == "FAIL" and not self.count(FAILED, self.subs):
            verdict = {"OK": PASSED, "FAIL": FAILED}.get(word, SKIPPED)
            reason = note or self.skip or "no reason given"
            self.add(name, verdict, reason if verdict == SKIPPED else None)
        if not sub:
            self.subs = len(self.rows)
        self.skip = None

    def check(self, match):
        if self.summary:
            self.fail("two summaries")
        self.summary = True
        if not match:
            self.fail("cannot read the summary")
        elif [number(group) for group in match.groups()] != self.counts:
            self.fail("lines say {}/{} passed, {}/{} failed, the summary {}/{} and {}/{}"
                      .format(*self.counts, *map(number, match.groups())))
