#define INTERFACE_VERSION 62
#define INTERFACE cjpeg_interface_62
#include "codec.h"
