/* Each file of the process is one node, however often it is opened: the image the process sees, and the operations since
 * the last sync, in order. Syncing carries them to the real file. */
#include "tests/simulate/vfs_power.h"

#include "tests/simulate/prng.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    SECTOR = 512,
    PATH_SIZE = 1024,
    RUBBISH_ONE_IN = 16, /* torn sectors among those lost */
};

typedef struct Change {
    bool truncate;
    int64_t offset; /* of a write, or the size after a truncation */
    int length;
    uint8_t *bytes;
} Change;

typedef struct Node Node;
struct Node {
    Node *next;
    char path[PATH_SIZE];
    int users;           /* open handles; the node outlives them */
    bool never_synced;   /* made by this process and not yet synced: its name may be lost */
    bool with_directory; /* a journal or WAL: SQLite syncs the folder with its first sync */
    bool deleted;        /* unlinked without a directory sync; the real file is still there */
    uint8_t *image;
    int64_t size, room;
    Change *changes;
    size_t change_count, change_room;
};

typedef struct File {
    sqlite3_file base;
    Node *node;         /* NULL: a temporary file, left to the real VFS alone */
    sqlite3_file *real; /* stands behind this struct */
} File;

static sqlite3_vfs *real_vfs;
static sqlite3_vfs power_vfs;
static Node *nodes;
static uint64_t counts[POWER_OPERATIONS], operations;
static PowerHook *hook;
static void *hook_data;

const char *power_operation_name(PowerOperation operation) {
    static const char *const names[] = {"open", "write", "truncate", "sync", "delete"};
    return operation < POWER_OPERATIONS ? names[operation] : "?";
}

uint64_t power_count(PowerOperation operation) {
    return counts[operation];
}

uint64_t power_operations(void) {
    return operations;
}

void power_hook(PowerHook *new_hook, void *data) {
    hook = new_hook;
    hook_data = data;
}

static int announce(PowerOperation operation, const char *path) {
    operations++;
    counts[operation]++;
    return hook ? hook(hook_data, operation, path, operations) : SQLITE_OK;
}

static void *need(void *memory) {
    if (!memory) {
        fputs("vfs_power: no memory\n", stderr);
        abort();
    }
    return memory;
}

static void image_resize(Node *node, int64_t size) {
    if (size > node->room) {
        node->room = size * 2 + 4096;
        node->image = need(realloc(node->image, (size_t)node->room));
    }
    if (size > node->size)
        memset(node->image + node->size, 0, (size_t)(size - node->size));
    node->size = size;
}

static Node *node_find(const char *path) {
    for (Node *node = nodes; node; node = node->next)
        if (!strcmp(node->path, path))
            return node;
    return NULL;
}

static void changes_drop(Node *node) {
    for (size_t i = 0; i < node->change_count; i++)
        free(node->changes[i].bytes);
    node->change_count = 0;
}

static void node_remove(Node *node) {
    for (Node **at = &nodes; *at; at = &(*at)->next)
        if (*at == node) {
            *at = node->next;
            break;
        }
    changes_drop(node);
    free(node->changes);
    free(node->image);
    free(node);
}

static Change *change_add(Node *node) {
    if (node->change_count == node->change_room) {
        node->change_room = node->change_room * 2 + 16;
        node->changes = need(realloc(node->changes, node->change_room * sizeof *node->changes));
    }
    Change *change = &node->changes[node->change_count++];
    *change = (Change){0};
    return change;
}

/* Carries changes to the real file; by path, since at a life's end there may be no handle any more. */
static bool real_apply(const Node *node) {
    if (!node->change_count)
        return true;
    FILE *file = fopen(node->path, "r+be");
    if (!file)
        return false;
    setvbuf(file, NULL, _IONBF, 0);
    bool well = true;
    for (size_t i = 0; well && i < node->change_count; i++) {
        const Change *change = &node->changes[i];
        if (change->truncate)
            well = !ftruncate(fileno(file), change->offset);
        else
            well = pwrite(fileno(file), change->bytes, (size_t)change->length, change->offset) == change->length;
    }
    fclose(file); /* the real VFS's locks on this file go with it (POSIX); harmless with one process at a time */
    return well;
}

/* As above through an open handle, which keeps its locks. */
static int handle_apply(File *file) {
    Node *node = file->node;
    int result = SQLITE_OK;
    for (size_t i = 0; !result && i < node->change_count; i++) {
        const Change *change = &node->changes[i];
        if (change->truncate)
            result = file->real->pMethods->xTruncate(file->real, change->offset);
        else
            result = file->real->pMethods->xWrite(file->real, change->bytes, change->length, change->offset);
    }
    if (!result)
        changes_drop(node);
    return result;
}

static void deletions_finish(void) {
    for (Node *node = nodes, *next; node; node = next) {
        next = node->next;
        if (node->deleted) {
            unlink(node->path);
            if (!node->users)
                node_remove(node);
        }
    }
}

/* --- the file's methods --- */

static int file_close(sqlite3_file *base) {
    File *file = (File *)base;
    if (file->node)
        file->node->users--; /* the node stays: its changes may not be synced yet */
    return file->real->pMethods ? file->real->pMethods->xClose(file->real) : SQLITE_OK;
}

static int file_read(sqlite3_file *base, void *ret, int amount, sqlite3_int64 offset) {
    File *file = (File *)base;
    if (!file->node)
        return file->real->pMethods->xRead(file->real, ret, amount, offset);
    int64_t there = file->node->size - offset;
    if (there >= amount) {
        memcpy(ret, file->node->image + offset, (size_t)amount);
        return SQLITE_OK;
    }
    if (there < 0)
        there = 0;
    if (there)
        memcpy(ret, file->node->image + offset, (size_t)there);
    memset((uint8_t *)ret + there, 0, (size_t)(amount - there));
    return SQLITE_IOERR_SHORT_READ;
}

static int file_write(sqlite3_file *base, const void *bytes, int amount, sqlite3_int64 offset) {
    File *file = (File *)base;
    Node *node = file->node;
    if (!node)
        return file->real->pMethods->xWrite(file->real, bytes, amount, offset);
    int result = announce(POWER_WRITE, node->path);
    if (result)
        return result;
    if (offset + amount > node->size)
        image_resize(node, offset + amount);
    memcpy(node->image + offset, bytes, (size_t)amount);
    Change *change = change_add(node);
    change->offset = offset;
    change->length = amount;
    change->bytes = need(malloc((size_t)amount + 1));
    memcpy(change->bytes, bytes, (size_t)amount);
    return SQLITE_OK;
}

static int file_truncate(sqlite3_file *base, sqlite3_int64 size) {
    File *file = (File *)base;
    Node *node = file->node;
    if (!node)
        return file->real->pMethods->xTruncate(file->real, size);
    int result = announce(POWER_TRUNCATE, node->path);
    if (result)
        return result;
    image_resize(node, size);
    Change *change = change_add(node);
    change->truncate = true;
    change->offset = size;
    return SQLITE_OK;
}

static int file_sync(sqlite3_file *base, int flags) {
    File *file = (File *)base;
    Node *node = file->node;
    if (!node)
        return file->real->pMethods->xSync(file->real, flags);
    int result = announce(POWER_SYNC, node->path);
    if (result)
        return result;
    result = handle_apply(file);
    if (!result && node->never_synced && node->with_directory) { /* the unix VFS syncs the folder then */
        for (Node *each = nodes; each; each = each->next)
            each->never_synced = false;
        deletions_finish();
    }
    if (!result)
        node->never_synced = false;
    return result; /* no real sync: the machine below does not lose its power */
}

static int file_size(sqlite3_file *base, sqlite3_int64 *ret_size) {
    File *file = (File *)base;
    if (!file->node)
        return file->real->pMethods->xFileSize(file->real, ret_size);
    *ret_size = file->node->size;
    return SQLITE_OK;
}

static int file_lock(sqlite3_file *base, int kind) {
    File *file = (File *)base;
    return file->real->pMethods->xLock(file->real, kind);
}

static int file_unlock(sqlite3_file *base, int kind) {
    File *file = (File *)base;
    return file->real->pMethods->xUnlock(file->real, kind);
}

static int file_check_lock(sqlite3_file *base, int *ret) {
    File *file = (File *)base;
    return file->real->pMethods->xCheckReservedLock(file->real, ret);
}

static int file_control(sqlite3_file *base, int operation, void *argument) {
    File *file = (File *)base;
    switch (operation) {
    case SQLITE_FCNTL_VFSNAME:
        *(char **)argument = sqlite3_mprintf("%s", power_vfs.zName);
        return SQLITE_OK;
    case SQLITE_FCNTL_LOCKSTATE:
    case SQLITE_FCNTL_LAST_ERRNO:
    case SQLITE_FCNTL_PERSIST_WAL:
    case SQLITE_FCNTL_POWERSAFE_OVERWRITE:
    case SQLITE_FCNTL_HAS_MOVED:
        return file->real->pMethods->xFileControl(file->real, operation, argument);
    default: /* size hints, memory maps and chunks would touch the real file */
        return SQLITE_NOTFOUND;
    }
}

static int file_sector(sqlite3_file *base) {
    File *file = (File *)base;
    return file->real->pMethods->xSectorSize(file->real);
}

static int file_characteristics(sqlite3_file *base) {
    (void)base;
    return SQLITE_IOCAP_POWERSAFE_OVERWRITE; /* and nothing better: no atomic writes, no order */
}

static int file_shm_map(sqlite3_file *base, int page, int size, int extend, void volatile **ret) {
    File *file = (File *)base;
    return file->real->pMethods->xShmMap(file->real, page, size, extend, ret);
}

static int file_shm_lock(sqlite3_file *base, int offset, int count, int flags) {
    File *file = (File *)base;
    return file->real->pMethods->xShmLock(file->real, offset, count, flags);
}

static void file_shm_barrier(sqlite3_file *base) {
    File *file = (File *)base;
    file->real->pMethods->xShmBarrier(file->real);
}

static int file_shm_unmap(sqlite3_file *base, int remove_it) {
    File *file = (File *)base;
    return file->real->pMethods->xShmUnmap(file->real, remove_it);
}

static const sqlite3_io_methods file_methods = {
    .iVersion = 2, .xClose = file_close, .xRead = file_read, .xWrite = file_write, .xTruncate = file_truncate,
    .xSync = file_sync, .xFileSize = file_size, .xLock = file_lock, .xUnlock = file_unlock,
    .xCheckReservedLock = file_check_lock, .xFileControl = file_control, .xSectorSize = file_sector,
    .xDeviceCharacteristics = file_characteristics, .xShmMap = file_shm_map, .xShmLock = file_shm_lock,
    .xShmBarrier = file_shm_barrier, .xShmUnmap = file_shm_unmap};

/* --- the VFS's methods --- */

static int node_load(Node *node, sqlite3_file *real) {
    sqlite3_int64 size;
    int result = real->pMethods->xFileSize(real, &size);
    if (result)
        return result;
    image_resize(node, size);
    /* piecewise: xRead takes an int */
    for (int64_t at = 0; !result && at < size; at += 1 << 20) {
        int piece = size - at < 1 << 20 ? (int)(size - at) : 1 << 20;
        result = real->pMethods->xRead(real, node->image + at, piece, at);
    }
    return result;
}

static int vfs_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *base, int flags, int *ret_flags) {
    (void)vfs;
    File *file = (File *)base;
    *file = (File){.real = (sqlite3_file *)(file + 1)};
    memset(file->real, 0, (size_t)real_vfs->szOsFile);
    bool kept = name && (flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_WAL | SQLITE_OPEN_SUPER_JOURNAL)) &&
                !(flags & SQLITE_OPEN_DELETEONCLOSE) && strlen(name) < PATH_SIZE;
    Node *node = NULL;
    bool existed = false;
    if (kept) {
        int result = announce(POWER_OPEN, name);
        if (result)
            return result;
        node = node_find(name);
        if (node && node->deleted) { /* made anew under a name whose deletion was not durable: that is done now */
            unlink(node->path);
            if (node->users)
                node->path[0] = 0;
            else
                node_remove(node);
            node = NULL;
        }
        existed = access(name, F_OK) == 0;
    }
    int result = real_vfs->xOpen(real_vfs, name, file->real, flags, ret_flags);
    if (result)
        return result;
    if (kept && !node) {
        node = need(calloc(1, sizeof *node));
        snprintf(node->path, sizeof node->path, "%s", name);
        node->never_synced = !existed;
        node->with_directory = !(flags & SQLITE_OPEN_MAIN_DB);
        node->next = nodes;
        nodes = node;
        result = node_load(node, file->real);
        if (result) {
            node_remove(node);
            file->real->pMethods->xClose(file->real);
            return result;
        }
    }
    if (node)
        node->users++;
    file->node = node;
    file->base.pMethods = &file_methods;
    return SQLITE_OK;
}

static int vfs_delete(sqlite3_vfs *vfs, const char *path, int sync_directory) {
    (void)vfs;
    int result = announce(POWER_DELETE, path);
    if (result)
        return result;
    Node *node = node_find(path);
    if (node && node->deleted)
        return SQLITE_IOERR_DELETE_NOENT;
    if (!node)
        return real_vfs->xDelete(real_vfs, path, sync_directory);
    /* what was written and not synced matters no more; what was stays in the real file and may come back */
    changes_drop(node);
    node->deleted = true;
    node->size = 0;
    if (sync_directory || node->never_synced)
        deletions_finish();
    return SQLITE_OK;
}

static int vfs_access(sqlite3_vfs *vfs, const char *path, int flags, int *ret) {
    (void)vfs;
    Node *node = node_find(path);
    if (node && node->deleted) {
        *ret = 0;
        return SQLITE_OK;
    }
    int result = real_vfs->xAccess(real_vfs, path, flags, ret);
    if (!result && flags == SQLITE_ACCESS_EXISTS && node)
        *ret = node->size > 0; /* as the unix VFS: an empty file does not exist */
    return result;
}

static int vfs_full_path(sqlite3_vfs *vfs, const char *name, int size, char *ret) {
    (void)vfs;
    return real_vfs->xFullPathname(real_vfs, name, size, ret);
}

static int vfs_random(sqlite3_vfs *vfs, int size, char *ret) {
    (void)vfs; /* salts of the WAL and the like: fixed, so that a seed replays */
    static uint64_t state = 0x5eed;
    for (int i = 0; i < size; i++)
        ret[i] = (char)prng_next(&state);
    return size;
}

static int vfs_sleep(sqlite3_vfs *vfs, int microseconds) {
    (void)vfs;
    return real_vfs->xSleep(real_vfs, microseconds);
}

static int vfs_time(sqlite3_vfs *vfs, double *ret) {
    (void)vfs;
    return real_vfs->xCurrentTime(real_vfs, ret);
}

static int vfs_last_error(sqlite3_vfs *vfs, int size, char *ret) {
    (void)vfs;
    return real_vfs->xGetLastError ? real_vfs->xGetLastError(real_vfs, size, ret) : 0;
}

bool power_register(const char *name) {
    if (real_vfs)
        return true;
    sqlite3_initialize();
    real_vfs = sqlite3_vfs_find(NULL);
    if (!real_vfs)
        return false;
    power_vfs = (sqlite3_vfs){
        .iVersion = 1, .szOsFile = (int)sizeof(File) + real_vfs->szOsFile, .mxPathname = real_vfs->mxPathname, .zName = name,
        .xOpen = vfs_open, .xDelete = vfs_delete, .xAccess = vfs_access, .xFullPathname = vfs_full_path,
        .xRandomness = vfs_random, .xSleep = vfs_sleep, .xCurrentTime = vfs_time, .xGetLastError = vfs_last_error};
    return sqlite3_vfs_register(&power_vfs, 0) == SQLITE_OK;
}

uint64_t power_unsynced(void) {
    uint64_t sum = 0;
    for (const Node *node = nodes; node; node = node->next)
        for (size_t i = 0; i < node->change_count; i++)
            sum += (uint64_t)node->changes[i].length;
    return sum;
}

/* --- ends --- */

void power_crash(int status) {
    deletions_finish();
    for (Node *node = nodes; node; node = node->next)
        if (!node->deleted && node->path[0] && !real_apply(node))
            fprintf(stderr, "vfs_power: %s could not be written\n", node->path);
    _exit(status);
}

/* How many of its versions since the last sync each sector has reached the disk in. */
static uint16_t *sectors_choose(const Node *node, uint64_t *random, int64_t *ret_sectors) {
    int64_t size = 0;
    for (size_t i = 0; i < node->change_count; i++)
        if (!node->changes[i].truncate && node->changes[i].offset + node->changes[i].length > size)
            size = node->changes[i].offset + node->changes[i].length;
    int64_t sectors = (size + SECTOR - 1) / SECTOR;
    uint16_t *versions = need(calloc((size_t)sectors + 1, sizeof *versions));
    for (size_t i = 0; i < node->change_count; i++) {
        const Change *change = &node->changes[i];
        if (!change->truncate && change->length)
            for (int64_t s = change->offset / SECTOR; s <= (change->offset + change->length - 1) / SECTOR; s++)
                versions[s]++;
    }
    /* some losses keep nearly all, some nearly nothing, most are mixed */
    uint64_t keep_of_8 = prng_below(random, 9);
    for (int64_t s = 0; s < sectors; s++) {
        if (!versions[s])
            continue;
        if (prng_below(random, 8) < keep_of_8)
            versions[s] = (uint16_t)(versions[s] - prng_below(random, 4) % versions[s]); /* mostly the newest */
        else
            versions[s] = (uint16_t)prng_below(random, versions[s]);
    }
    *ret_sectors = sectors;
    return versions;
}

static void loss_apply(const Node *node, uint64_t *random) {
    int64_t sectors;
    uint16_t *versions = sectors_choose(node, random, &sectors);
    uint16_t *seen = need(calloc((size_t)sectors + 1, sizeof *seen));
    FILE *file = fopen(node->path, "r+be");
    if (file) {
        int descriptor = fileno(file);
        for (size_t i = 0; i < node->change_count; i++) {
            const Change *change = &node->changes[i];
            if (change->truncate) {
                if (prng_below(random, 2) && ftruncate(descriptor, change->offset))
                    perror("vfs_power: ftruncate");
                continue;
            }
            for (int64_t at = change->offset, end = at + change->length; at < end;) {
                int64_t sector = at / SECTOR, next = (sector + 1) * SECTOR < end ? (sector + 1) * SECTOR : end;
                size_t length = (size_t)(next - at);
                uint8_t piece[SECTOR];
                memcpy(piece, change->bytes + (at - change->offset), length);
                bool arrived = ++seen[sector] <= versions[sector];
                if (seen[sector] == versions[sector] + 1 && prng_below(random, RUBBISH_ONE_IN) == 0) {
                    arrived = true; /* the power went while this one was being written */
                    for (size_t b = prng_below(random, length + 1); b < length; b++)
                        piece[b] = (uint8_t)prng_next(random);
                }
                if (arrived && pwrite(descriptor, piece, length, at) != (ssize_t)length)
                    perror("vfs_power: pwrite");
                at = next;
            }
        }
        fclose(file);
    }
    free(seen);
    free(versions);
}

void power_loss(uint64_t seed, int status) {
    uint64_t random = seed * 0x9e3779b97f4a7c15u + 1;
    for (Node *node = nodes; node; node = node->next) {
        if (!node->path[0])
            continue;
        char shm[PATH_SIZE + 8];
        snprintf(shm, sizeof shm, "%s-shm", node->path);
        unlink(shm);
        if (node->deleted) {
            if (prng_below(&random, 2))
                unlink(node->path);
        } else if (node->never_synced && prng_below(&random, 2)) {
            unlink(node->path);
        } else {
            loss_apply(node, &random);
        }
    }
    _exit(status);
}
