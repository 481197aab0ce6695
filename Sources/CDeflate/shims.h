// libdeflate: compresses what is in memory as a whole, faster and smaller than zlib. libtiff brings it along.
#ifndef CDEFLATE_SHIMS_H
#define CDEFLATE_SHIMS_H

#include <libdeflate.h>

#endif
