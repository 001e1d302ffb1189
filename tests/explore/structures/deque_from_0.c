/* SPDX-License-Identifier: MIT
 *
 * The deque with its indices from 0.
 */
#define DEQUE_STRUCTURE structure_deque
#include "structures/deque_structure.h"
