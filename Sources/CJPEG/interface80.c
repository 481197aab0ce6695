#define INTERFACE_VERSION 80
#define INTERFACE cjpeg_interface_80
#include "codec.h"
