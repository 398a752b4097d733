/* vfs_power: a SQLite VFS that can lose power (RULINGS 52).
 *
 * It stands over the default VFS and keeps every write and truncation in memory until the file is synced. A process (one
 * "life" of the service, forked by the simulation) ends in one of three ways:
 *
 *     power_crash()              all writes reach the real files, as after SIGKILL or an orderly end: the page cache stays
 *     power_loss(seed)           of what was not synced, a seeded part reaches the real files: each 512-byte sector in one of
 *                                its versions since the last sync, or torn
 *     killed, exit() or _exit()  nothing of what was not synced arrives: one of the possible losses
 *
 * What is modelled: reads see the process's own unsynced writes; a write touches no byte outside itself, sector by sector
 * (SQLite's "powersafe overwrite"); a sector being written when the power goes may hold rubbish, but only bytes of the writes; unsynced truncations
 * happen or not; a file that was never synced may be missing, one that was deleted without a directory sync may be back; a file's first sync
 * makes its name durable (as ext4, XFS and btrfs do), a journal's first one the whole folder; the -shm
 * file never survives. Locks and shared memory are the real VFS's.
 *
 * One thread, and not for two processes writing to one file at the same time. */
#ifndef EPISTLE_TESTS_SIMULATE_VFS_POWER_H
#define EPISTLE_TESTS_SIMULATE_VFS_POWER_H

#include <stdbool.h>
#include <stdint.h>

typedef enum PowerOperation { POWER_OPEN, POWER_WRITE, POWER_TRUNCATE, POWER_SYNC, POWER_DELETE, POWER_OPERATIONS } PowerOperation;

/* Registers the VFS under this name (a string that lives on), not as the default. A second call does nothing. False if SQLite refuses. */
bool power_register(const char *name);

/* How many of each were done since the start (or power_reset); the sum of all. */
uint64_t power_count(PowerOperation operation);
uint64_t power_operations(void);

/* Called before each operation, with the number it will have (from 1). It may end the life by power_loss() or power_crash(). NULL: none.
 * Returning another value than 0 lets the operation fail with it, as an SQLite result (SQLITE_FULL, SQLITE_IOERR_FSYNC …). */
typedef int PowerHook(void *data, PowerOperation operation, const char *path, uint64_t number);
void power_hook(PowerHook *hook, void *data);

/* Ends this process with _exit(status) after a loss of power, or after a plain crash. */
_Noreturn void power_loss(uint64_t seed, int status);
_Noreturn void power_crash(int status);

/* Bytes written and not yet synced, over all files. */
uint64_t power_unsynced(void);

const char *power_operation_name(PowerOperation operation);

#endif
