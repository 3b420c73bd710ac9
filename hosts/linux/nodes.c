// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * /dev/hwt, and the nodes that a context gets while it lives.
 *
 * A node is there when its creator's ioctl returns.  One that is destroyed lives
 * on as an object while somebody has it open; it only finds nobody behind it.
 */
#include <linux/cdev.h>
#include <linux/device.h>
#include <linux/idr.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "compat.h"
#include "linux.h"

#define NODES_MAX	(1u << MINORBITS)
#define ARG_MAX_SIZE	512u	/* the largest structure of <hwt/hwt_ext.h> fits */

struct hwt_node {
	struct device		dev;
	struct cdev		cdev;
	kuid_t			uid;
	struct hwt_context	*ctx;	/* node_lock; NULL: destroyed */
	struct hwt_buffer	*buffer;
	int			opens;	/* node_lock */
};

/* An open node. */
struct node_file {
	struct hwt_node		*node;
	struct hwt_context	*ctx;
	struct hwt_buffer	*buffer;
	struct hwt_cred		cred;	/* of the open */
};

static DEFINE_MUTEX(node_lock);
static DEFINE_IDA(minors);
static struct class *node_class;
static dev_t node_first;

/* ---- ioctls ---- */

/* The results that still fill in the structure (core/hwt_core.h). */
static bool copies_back(unsigned int cmd, int rc)
{
	return _IOC_DIR(cmd) & _IOC_READ && (!rc || rc == -EINVAL || rc == -ENXIO);
}

/* A 32-bit caller never comes here: without a compat_ioctl it gets ENOTTY. */
static long ioctl_call(const struct hwt_cred *cred, struct hwt_context *ctx,
		       struct hwt_buffer *buffer, unsigned int cmd, unsigned long uarg)
{
	uint8_t arg[ARG_MAX_SIZE] __aligned(16);
	size_t size = _IOC_SIZE(cmd);
	int rc;

	if (_IOC_TYPE(cmd) != HWT_MAGIC || size > sizeof(arg))
		return -ENOTTY;
	if (copy_from_user(arg, (void __user *)uarg, size))
		return -EFAULT;
	rc = hwt_ioctl(hwt_linux_core, cred, ctx, buffer, cmd, arg);
	if (copies_back(cmd, rc) && copy_to_user((void __user *)uarg, arg, size))
		return -EFAULT;
	return rc;
}

static long device_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct hwt_cred cred;
	int rc;

	hwt_linux_cred(&cred);
	if (cmd == HWT_IOC_ALLOC) {
		rc = hwt_linux_owner_watch();
		if (rc)
			return rc;
	}
	return ioctl_call(&cred, NULL, NULL, cmd, arg);
}

/*
 * Who dies may have given descriptors away: its own are being closed, and that
 * is the time to end what it owns.
 */
static int any_flush(struct file *file, fl_owner_t id)
{
	struct hwt_cred cred;

	if (current->flags & PF_EXITING) {
		hwt_linux_cred(&cred);
		hwt_linux_owner_dies(&cred);
	}
	return 0;
}

static const struct file_operations device_fops = {
	.owner = THIS_MODULE,
	.unlocked_ioctl = device_ioctl,
	.flush = any_flush,
};

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "hwt",
	.fops = &device_fops,
	.mode = 0660,
};

/* ---- open nodes ---- */

static int node_open(struct inode *inode, struct file *file)
{
	struct hwt_node *node = container_of(inode->i_cdev, struct hwt_node, cdev);
	struct node_file *nf = kzalloc(sizeof(*nf), GFP_KERNEL);
	int rc = -ENXIO;

	if (!nf)
		return -ENOMEM;
	hwt_linux_cred(&nf->cred);
	mutex_lock(&node_lock);
	if (node->ctx)
		rc = hwt_node_open(hwt_linux_core, &nf->cred, node->ctx);
	if (!rc) {
		nf->node = node;
		nf->ctx = node->ctx;
		nf->buffer = node->buffer;
		node->opens++;
	}
	mutex_unlock(&node_lock);
	if (rc)
		kfree(nf);
	else
		file->private_data = nf;
	return rc;
}

/* A mapping holds its file: with the last file the last mapping is gone, too. */
static int node_release(struct inode *inode, struct file *file)
{
	struct node_file *nf = file->private_data;
	bool idle;

	mutex_lock(&node_lock);
	idle = !--nf->node->opens && nf->node->ctx;
	mutex_unlock(&node_lock);
	if (idle && nf->buffer)
		hwt_buffer_idle(hwt_linux_core, nf->ctx, nf->buffer);
	hwt_node_close(hwt_linux_core, &nf->cred, nf->ctx);
	kfree(nf);
	return 0;
}

static long node_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct node_file *nf = file->private_data;
	struct hwt_cred cred;

	hwt_linux_cred(&cred);
	return ioctl_call(&cred, nf->ctx, nf->buffer, cmd, arg);
}

static int node_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct node_file *nf = file->private_data;
	struct hwt_pages *pages;
	struct hwt_cred cred;
	int rc;

	hwt_linux_cred(&cred);
	rc = hwt_node_mmap(hwt_linux_core, &cred, nf->ctx, nf->buffer,
			   (uint64_t)vma->vm_pgoff << PAGE_SHIFT,
			   vma->vm_end - vma->vm_start, vma->vm_flags & VM_WRITE, &pages);
	if (rc)
		return rc;
	hwt_compat_vm_flags(vma, VM_DONTEXPAND | VM_DONTDUMP, VM_MAYWRITE);
	return hwt_linux_pages_map(pages, vma);
}

static __poll_t node_poll(struct file *file, poll_table *table)
{
	struct node_file *nf = file->private_data;
	struct hwt_wait *wait;

	hwt_node_poll(nf->ctx, &wait);
	poll_wait(file, wait->queue, table);
	return hwt_node_poll(nf->ctx, &wait) ? EPOLLIN | EPOLLRDNORM : 0;
}

static const struct file_operations node_fops = {
	.owner = THIS_MODULE,
	.open = node_open,
	.release = node_release,
	.flush = any_flush,
	.unlocked_ioctl = node_ioctl,
	.mmap = node_mmap,
	.poll = node_poll,
	.llseek = noop_llseek,
};

/* ---- nodes ---- */

static char *node_devnode(HWT_COMPAT_DEVNODE_CONST struct device *dev, umode_t *mode,
			  kuid_t *uid, kgid_t *gid)
{
	if (mode)
		*mode = 0600;
	if (uid)
		*uid = container_of(dev, struct hwt_node, dev)->uid;
	return NULL;
}

static const struct device_type node_type = {
	.name = "hwt",
	.devnode = node_devnode,
};

static void node_free(struct device *dev)
{
	struct hwt_node *node = container_of(dev, struct hwt_node, dev);

	ida_free(&minors, MINOR(dev->devt));
	hwt_live_add(-1);
	kfree(node);
}

int hwt_linux_node_create(void *host, const char *name, struct hwt_context *ctx,
			  struct hwt_buffer *buffer, uint32_t uid, struct hwt_node **out)
{
	struct hwt_node *node;
	int minor, rc;

	node = hwt_fault_hit() ? NULL : kzalloc(sizeof(*node), GFP_KERNEL);
	if (!node)
		return -ENOMEM;
	minor = ida_alloc_max(&minors, NODES_MAX - 1, GFP_KERNEL);
	if (minor < 0) {
		kfree(node);
		return minor;
	}
	hwt_live_add(1);
	device_initialize(&node->dev);
	node->uid = make_kuid(&init_user_ns, uid);
	node->ctx = ctx;
	node->buffer = buffer;
	node->dev.class = node_class;
	node->dev.type = &node_type;
	node->dev.release = node_free;
	node->dev.devt = MKDEV(MAJOR(node_first), minor);
	cdev_init(&node->cdev, &node_fops);
	node->cdev.owner = THIS_MODULE;
	rc = dev_set_name(&node->dev, "%s", name);
	if (!rc)
		rc = cdev_device_add(&node->cdev, &node->dev);
	if (rc)
		put_device(&node->dev);
	else
		*out = node;
	return rc;
}

void hwt_linux_node_destroy(void *host, struct hwt_node *node)
{
	mutex_lock(&node_lock);
	node->ctx = NULL;
	mutex_unlock(&node_lock);
	cdev_device_del(&node->cdev, &node->dev);
	put_device(&node->dev);
}

int hwt_linux_nodes_init(void)
{
	int rc = alloc_chrdev_region(&node_first, 0, NODES_MAX, "hwt");

	if (rc)
		return rc;
	node_class = hwt_compat_class_create("hwt");
	rc = PTR_ERR_OR_ZERO(node_class);
	if (rc)
		goto unregister_region;
	rc = misc_register(&device);
	if (rc)
		goto destroy_class;
	return 0;

destroy_class:
	class_destroy(node_class);
unregister_region:
	unregister_chrdev_region(node_first, NODES_MAX);
	return rc;
}

void hwt_linux_nodes_exit(void)
{
	misc_deregister(&device);
	class_destroy(node_class);
	unregister_chrdev_region(node_first, NODES_MAX);
	ida_destroy(&minors);
}
