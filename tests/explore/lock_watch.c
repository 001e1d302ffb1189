/* SPDX-License-Identifier: MIT
 *
 * Counts the locks of lock.h that each thread holds, for S10: the tasks of the scenarios look at the count. The program
 * is linked with --wrap for the three functions, so that the sources of the pool stay as they are.
 */
#include "explored/explored.h"
#include "lock.h"

void __real_lock_lock(struct lock *lock);
void __wrap_lock_lock(struct lock *lock);
bool __real_lock_try(struct lock *lock);
bool __wrap_lock_try(struct lock *lock);
void __real_lock_unlock(struct lock *lock);
void __wrap_lock_unlock(struct lock *lock);

void __wrap_lock_lock(struct lock *lock)
{
    __real_lock_lock(lock);
    explored_lock_taken(1);
}

bool __wrap_lock_try(struct lock *lock)
{
    bool taken = __real_lock_try(lock);
    if (taken)
        explored_lock_taken(1);
    return taken;
}

void __wrap_lock_unlock(struct lock *lock)
{
    explored_lock_taken(-1);
    __real_lock_unlock(lock);
}
