// mac-disk SOURCE MOUNTPOINT: shows a folder as APFS does, without regard to case or composition of names. A name in
// another spelling is a symlink to the stored one, so realpath(3) gives the stored one, as on macOS.
#define FUSE_USE_VERSION 31
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fuse.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utf8proc.h>

#define PATH_BYTES 8192
static const char *source;

static char *folded(const char *name) {
  utf8proc_option_t how = UTF8PROC_NULLTERM | UTF8PROC_STABLE | UTF8PROC_DECOMPOSE | UTF8PROC_CASEFOLD;
  utf8proc_uint8_t *out = NULL;
  return utf8proc_map((const utf8proc_uint8_t *)name, 0, &out, how) < 0 ? strdup(name) : (char *)out;
}

// Writes the path below SOURCE, with the stored spelling of its last name. Returns whether that differs.
static int stored(const char *path, char *out) {
  struct stat stat;
  snprintf(out, PATH_BYTES, "%s%s", source, path);
  if (lstat(out, &stat) == 0 || errno != ENOENT) return 0;
  char *name = strrchr(out, '/') + 1, *wanted = folded(name);
  name[-1] = 0;
  DIR *folder = opendir(out);
  name[-1] = '/';
  int found = 0;
  for (struct dirent *entry; folder && !found && (entry = readdir(folder));) {
    char *other = folded(entry->d_name);
    if ((found = strcmp(other, wanted) == 0)) strcpy(name, entry->d_name);
    free(other);
  }
  if (folder) closedir(folder);
  free(wanted);
  return found;
}

#define AT(call) char at[PATH_BYTES]; stored(path, at); return (call) == -1 ? -errno : 0;
#define FILE_OR(call) if (fi) return (call) == -1 ? -errno : 0;

static int get(const char *path, struct stat *st, struct fuse_file_info *fi) {
  FILE_OR(fstat(fi->fh, st))
  char at[PATH_BYTES];
  int differs = stored(path, at);
  if (lstat(at, st) == -1) return -errno;
  if (differs) st->st_mode = S_IFLNK | 0777, st->st_ino = ~st->st_ino, st->st_nlink = 1, st->st_size = strlen(strrchr(at, '/') + 1);
  return 0;
}
static int target(const char *path, char *out, size_t size) {
  char at[PATH_BYTES];
  if (stored(path, at)) return snprintf(out, size, "%s", strrchr(at, '/') + 1), 0;
  ssize_t length = readlink(at, out, size - 1);
  return length < 0 ? -errno : (out[length] = 0);
}
static int moved(const char *path, const char *to, unsigned flags) {
  char from[PATH_BYTES], at[PATH_BYTES];
  stored(path, from);
  stored(to, at);
  // A rename that changes only the spelling.
  if (strcmp(from, at) == 0) strcpy(strrchr(at, '/'), strrchr(to, '/'));
  return renameat2(AT_FDCWD, from, AT_FDCWD, at, flags) == -1 ? -errno : 0;
}
static int linked(const char *path, const char *to) {
  char from[PATH_BYTES], at[PATH_BYTES];
  stored(path, from);
  stored(to, at);
  return link(from, at) == -1 ? -errno : 0;
}
static int opened(const char *path, struct fuse_file_info *fi) {
  AT(fi->fh = open(at, fi->flags & ~O_NOFOLLOW))
}
static int created(const char *path, mode_t mode, struct fuse_file_info *fi) {
  AT(fi->fh = open(at, fi->flags | O_CREAT, mode))
}
static int listed(const char *path, void *buffer, fuse_fill_dir_t fill, off_t offset, struct fuse_file_info *fi, enum fuse_readdir_flags flags) {
  char at[PATH_BYTES];
  stored(path, at);
  DIR *folder = opendir(at);
  if (!folder) return -errno;
  for (struct dirent *entry; (entry = readdir(folder));) fill(buffer, entry->d_name, NULL, 0, 0);
  return closedir(folder);
}
static int made(const char *path, mode_t mode) { AT(mkdir(at, mode)) }
static int node(const char *path, mode_t mode, dev_t device) { AT(mknod(at, mode, device)) }
static int symlinked(const char *to, const char *path) { AT(symlink(to, at)) }
static int unlinked(const char *path) { AT(unlink(at)) }
static int removed(const char *path) { AT(rmdir(at)) }
static int mode(const char *path, mode_t mode, struct fuse_file_info *fi) { FILE_OR(fchmod(fi->fh, mode)) AT(chmod(at, mode)) }
static int owner(const char *path, uid_t user, gid_t group, struct fuse_file_info *fi) { FILE_OR(fchown(fi->fh, user, group)) AT(lchown(at, user, group)) }
static int cut(const char *path, off_t size, struct fuse_file_info *fi) { FILE_OR(ftruncate(fi->fh, size)) AT(truncate(at, size)) }
static int times(const char *path, const struct timespec both[2], struct fuse_file_info *fi) { FILE_OR(futimens(fi->fh, both)) AT(utimensat(AT_FDCWD, at, both, AT_SYMLINK_NOFOLLOW)) }
static int synced(const char *path, int data, struct fuse_file_info *fi) { return fsync(fi->fh) == -1 ? -errno : 0; }
static int closed(const char *path, struct fuse_file_info *fi) { return close(fi->fh); }
static int got(const char *path, char *buffer, size_t size, off_t offset, struct fuse_file_info *fi) {
  ssize_t count = pread(fi->fh, buffer, size, offset);
  return count < 0 ? -errno : count;
}
static int put(const char *path, const char *buffer, size_t size, off_t offset, struct fuse_file_info *fi) {
  ssize_t count = pwrite(fi->fh, buffer, size, offset);
  return count < 0 ? -errno : count;
}
// The kernel must not remember for long which spelling is stored, but getcwd(2) fails if it remembers nothing.
static void *begun(struct fuse_conn_info *connection, struct fuse_config *config) {
  config->use_ino = config->hard_remove = 1;
  config->attr_timeout = config->negative_timeout = 0;
  config->entry_timeout = 1;
  return NULL;
}

int main(int count, char **words) {
  static const struct fuse_operations all = {
    .init = begun, .getattr = get, .readlink = target, .mkdir = made, .mknod = node, .symlink = symlinked,
    .unlink = unlinked, .rmdir = removed, .rename = moved, .link = linked, .chmod = mode, .chown = owner,
    .truncate = cut, .utimens = times, .open = opened, .create = created, .read = got, .write = put,
    .fsync = synced, .release = closed, .readdir = listed,
  };
  char *options[] = {words[0], words[2], "-f", "-o", "default_permissions", NULL};
  umask(0);
  source = realpath(words[1], NULL);
  return fuse_main(5, options, &all, NULL);
}
