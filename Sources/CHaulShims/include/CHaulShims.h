// Typed C functions for what Swift cannot call: variadic functions, macros, and Linux system calls that its Glibc
// module lacks. No logic here.
#pragma once

#include "CHaulTLS.h"

#include <stddef.h>
#include <stdint.h>

/// openat(2) with O_CLOEXEC; `flags` and `mode` as in the manual page.
int haul_openat(int directory, const char *path, int flags, unsigned int mode);

/// openat(2) with O_TMPFILE | O_RDWR: a file without a name in that directory.
int haul_open_unnamed(int directory, unsigned int mode);

/// Gives the unnamed file a name: linkat(2) over /proc/self/fd, which needs no privilege.
int haul_link_unnamed(int descriptor, int directory, const char *name);

/// fallocate(2) with FALLOC_FL_KEEP_SIZE from offset 0.
int haul_fallocate(int descriptor, int64_t length);

/// sync_file_range(2) with SYNC_FILE_RANGE_WRITE: starts writing, waits for nothing.
int haul_start_writeback(int descriptor, int64_t offset, int64_t length);

/// renameat2(2) inside one directory; with RENAME_NOREPLACE when `keeps_existing` is not 0.
int haul_rename(int directory, const char *from, const char *to, int keeps_existing);

int haul_fsetxattr(int descriptor, const char *name, const void *value, size_t size);
long haul_fgetxattr(int descriptor, const char *name, void *value, size_t size);

/// futimens(2): sets the modification time, leaves the access time.
int haul_set_modified(int descriptor, int64_t seconds);

/// fstatfs(2): bytes an unprivileged process may still take, and the type of the file system.
int haul_volume(int descriptor, uint64_t *free_bytes, uint64_t *type);

/// getrlimit(2): the soft RLIMIT_FSIZE, INT64_MAX when there is none.
int64_t haul_file_size_limit(void);

/// The type of a file system as fstatfs(2) gives it.
extern const uint64_t haul_type_ext4, haul_type_xfs, haul_type_btrfs, haul_type_f2fs, haul_type_fat;

/// posix_spawn_file_actions_addclosefrom_np(3): the child keeps no descriptor from `first` upwards.
int haul_close_from(void *actions, int first);

/// mallopt(3): blocks up to 4 MiB come from the heap, and so many bytes of it may lie idle.
void haul_keep_freed_memory(int bytes);
