#include "CHaulShims.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

const uint64_t haul_type_ext4 = EXT4_SUPER_MAGIC;
const uint64_t haul_type_xfs = XFS_SUPER_MAGIC;
const uint64_t haul_type_btrfs = BTRFS_SUPER_MAGIC;
const uint64_t haul_type_f2fs = F2FS_SUPER_MAGIC;
const uint64_t haul_type_fat = MSDOS_SUPER_MAGIC;

int haul_openat(int directory, const char *path, int flags, unsigned int mode) {
    return openat(directory, path, flags | O_CLOEXEC, (mode_t)mode);
}

int haul_open_unnamed(int directory, unsigned int mode) {
    return openat(directory, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, (mode_t)mode);
}

int haul_link_unnamed(int descriptor, int directory, const char *name) {
    // The short way is for the privileged (linkat(2)); who is refused once need not ask again.
    static _Atomic int is_refused;
    if (!is_refused) {
        if (linkat(descriptor, "", directory, name, AT_EMPTY_PATH) == 0) return 0;
        if (errno != ENOENT) return -1;
        is_refused = 1;
    }
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    return linkat(AT_FDCWD, path, directory, name, AT_SYMLINK_FOLLOW);
}

int haul_fallocate(int descriptor, int64_t length) {
    return fallocate(descriptor, FALLOC_FL_KEEP_SIZE, 0, length);
}

int haul_start_writeback(int descriptor, int64_t offset, int64_t length) {
    return sync_file_range(descriptor, offset, length, SYNC_FILE_RANGE_WRITE);
}

int haul_rename(int directory, const char *from, const char *to, int keeps_existing) {
    return renameat2(directory, from, directory, to, keeps_existing ? RENAME_NOREPLACE : 0);
}

int haul_fsetxattr(int descriptor, const char *name, const void *value, size_t size) {
    return fsetxattr(descriptor, name, value, size, 0);
}

long haul_fgetxattr(int descriptor, const char *name, void *value, size_t size) {
    return fgetxattr(descriptor, name, value, size);
}

int haul_set_modified(int descriptor, int64_t seconds) {
    struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = seconds}};
    return futimens(descriptor, times);
}

int haul_volume(int descriptor, uint64_t *free_bytes, uint64_t *type) {
    struct statfs status;
    if (fstatfs(descriptor, &status) != 0) return -1;
    *free_bytes = (uint64_t)status.f_bavail * (uint64_t)status.f_frsize;
    *type = (uint64_t)status.f_type;
    return 0;
}

int64_t haul_file_size_limit(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur >= (rlim_t)INT64_MAX) return INT64_MAX;
    return (int64_t)limit.rlim_cur;
}

int haul_close_from(void *actions, int first) {
    return posix_spawn_file_actions_addclosefrom_np((posix_spawn_file_actions_t *)actions, first);
}
