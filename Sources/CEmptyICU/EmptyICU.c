// ICU's data without an entry. Foundation brings 34 MB of them along, half of the program, and nothing here asks for a
// language, a region or a calendar. A linker takes this instead where Foundation is linked statically, since it comes
// before the library; see docs/decisions/0043.
#include <stdint.h>

// The layout of ICU's own `stubdata`: the header that ICU checks, and an empty table of contents.
struct Data {
    uint16_t headerSize;
    uint8_t magic[2];
    uint16_t infoSize;
    uint16_t reserved;
    uint8_t isBigEndian;
    uint8_t charset;
    uint8_t bytesPerUnit;
    uint8_t padding;
    uint8_t format[4];
    uint8_t formatVersion[4];
    uint8_t dataVersion[4];
    uint8_t rest[8];
    uint32_t entries[2];
};

// The name has the version of ICU in it: 76 in Swift 6.3. Hidden, so that a program that loads Foundation as a library
// keeps its data.
__attribute__((aligned(16), visibility("hidden"))) const struct Data icudt76_dat = {
    .headerSize = 32,
    .magic = {0xda, 0x27},
    .infoSize = 20,
    .isBigEndian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__,
    .bytesPerUnit = 2,
    .format = {'T', 'o', 'C', 'P'},
    .formatVersion = {1},
};
