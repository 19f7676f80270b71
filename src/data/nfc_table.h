/* nfc_table.h - what Unicode says of characters that are made of others. */
#ifndef RONDO_NFC_TABLE_H
#define RONDO_NFC_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct nfc_whole {
    uint32_t whole, first, second;
};

struct nfc_class {
    uint32_t first, last;
    uint8_t is;
};

extern const struct nfc_whole nfc_wholes[];
extern const size_t nfc_wholes_count;
extern const uint16_t nfc_pairs[];   // indexes of nfc_wholes
extern const size_t nfc_pairs_count;
extern const struct nfc_class nfc_classes[];
extern const size_t nfc_classes_count;

#endif
