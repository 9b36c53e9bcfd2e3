#include "CHaulShims.h"
