// SPDX-License-Identifier: GPL-2.0
/*
 * A system call that blocks at 100 places, for tests of tools that add up blocked time by
 * kernel stack: each write() to /dev/offcpu_places blocks once in each of place_00() to place_99().
 * The text is a number, the microseconds of each sleep.
 */
#include <linux/hrtimer.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/uaccess.h>

/* If the timer expires before the thread is switched out, it has not blocked: once more. */
static noinline void doze(u32 us)
{
	unsigned long blocks = current->nvcsw;
	ktime_t time = us_to_ktime(us);

	while (current->nvcsw == blocks) {
		set_current_state(TASK_UNINTERRUPTIBLE);
		schedule_hrtimeout_range(&time, 0, HRTIMER_MODE_REL);
	}
}

/*
 * The text keeps the functions from being merged, as they are equal, and the calls of
 * doze() from becoming jumps, which leave no frame behind.
 */
#define PLACE(n)						\
static noinline void place_##n(u32 us)				\
{								\
	doze(us);						\
	asm volatile("# place " #n);				\
}

#define TEN(f, n)						\
	f(n##0) f(n##1) f(n##2) f(n##3) f(n##4)			\
	f(n##5) f(n##6) f(n##7) f(n##8) f(n##9)

#define HUNDRED(f)						\
	TEN(f, 0) TEN(f, 1) TEN(f, 2) TEN(f, 3) TEN(f, 4)	\
	TEN(f, 5) TEN(f, 6) TEN(f, 7) TEN(f, 8) TEN(f, 9)

HUNDRED(PLACE)

#define CALL(n)	place_##n(us);

static ssize_t places_write(struct file *file, const char __user *buf, size_t size, loff_t *pos)
{
	u32 us;
	int err;

	err = kstrtou32_from_user(buf, size, 10, &us);
	if (err || !us)
		return err ?: -EINVAL;
	HUNDRED(CALL)
	return size;
}

static const struct file_operations places_ops = {
	.owner	= THIS_MODULE,
	.write	= places_write,
};

static struct miscdevice places_device = {
	.minor	= MISC_DYNAMIC_MINOR,
	.name	= "offcpu_places",
	.fops	= &places_ops,
};

module_misc_device(places_device);

MODULE_DESCRIPTION("A system call that blocks at 100 places");
MODULE_LICENSE("GPL");
