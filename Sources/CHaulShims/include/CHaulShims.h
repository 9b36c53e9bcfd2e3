// Typed C functions for what Swift cannot call: variadic functions, macros, and Linux system calls that its Glibc
// module lacks. No logic here.
#pragma once

#include <sys/types.h>
#include <stddef.h>
#include <stdint.h>
