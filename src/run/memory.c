/* memory.c - scopes are few, entries are trimmed in place. */
#include "run/memory.h"

#include <string.h>

const struct memory_scope *memory_find(const struct memory *memory, const char *scope)
{
    for (uint32_t i = 0; i < memory->count; i++)
        if (strcmp(memory->scopes[i].name, scope) == 0)
            return &memory->scopes[i];
    return NULL;
}

static struct memory_scope *find_or_add(struct memory *memory, const char *scope)
{
    struct memory_scope *found = (struct memory_scope *)memory_find(memory, scope);
    if (found)
        return found;
    mem_grow(&memory->scopes, &memory->cap, memory->count, sizeof *memory->scopes);
    found = &memory->scopes[memory->count++];
    *found = (struct memory_scope){ .name = mem_strdup(scope) };
    return found;
}

void memory_add(struct memory *memory, const char *name, const struct memory_entry *entry)
{
    struct memory_scope *scope = find_or_add(memory, name);
    mem_grow(&scope->entries, &scope->cap, scope->count, sizeof *scope->entries);
    scope->entries[scope->count++] = *entry;
}

void memory_begin(struct memory *memory, json_t *scopes)
{
    const char *name;
    json_t *list, *value;
    size_t i;
    json_object_foreach(scopes, name, list)
        json_array_foreach(list, i, value)
            memory_add(memory, name, &(struct memory_entry){ .value = json_incref(value) });
}

static bool was_written_in(const struct memory_entry *entry, uint64_t loop)
{
    for (uint32_t i = 0; i < entry->loop_count; i++)
        if (entry->loops[i] == loop)
            return true;
    return false;
}

static uint32_t count_own(const struct memory_scope *scope, uint64_t loop)
{
    uint32_t own = 0;
    for (uint32_t i = 0; i < scope->count; i++)
        own += was_written_in(&scope->entries[i], loop);
    return own;
}

bool memory_has_more(const struct memory *memory, uint64_t loop, uint32_t keep)
{
    for (uint32_t i = 0; i < memory->count; i++)
        if (count_own(&memory->scopes[i], loop) > keep)
            return true;
    return false;
}

static void entry_clear(struct memory_entry *entry)
{
    json_decref(entry->value);
    mem_free(entry->loops);
}

static void remove_entry(struct memory *memory, struct memory_entry *entry)
{
    mem_grow(&memory->gone, &memory->gone_cap, memory->gone_count, sizeof *memory->gone);
    memory->gone[memory->gone_count++] = entry->seq;
    entry_clear(entry);
}

static void trim(struct memory *memory, struct memory_scope *scope, uint64_t loop, uint32_t keep)
{
    uint32_t own = count_own(scope, loop), kept = 0;
    uint32_t excess = own > keep ? own - keep : 0;
    for (uint32_t i = 0; i < scope->count; i++) {
        if (excess && was_written_in(&scope->entries[i], loop)) {
            remove_entry(memory, &scope->entries[i]);
            excess--;
        } else {
            scope->entries[kept++] = scope->entries[i];
        }
    }
    scope->count = kept;
}

void memory_trim(struct memory *memory, uint64_t loop, uint32_t keep)
{
    for (uint32_t i = 0; i < memory->count; i++)
        trim(memory, &memory->scopes[i], loop, keep);
}

void memory_forget(struct memory *memory, uint64_t writer)
{
    for (uint32_t i = 0; i < memory->count; i++) {
        struct memory_scope *scope = &memory->scopes[i];
        uint32_t kept = 0;
        for (uint32_t k = 0; k < scope->count; k++) {
            if (scope->entries[k].writer == writer)
                remove_entry(memory, &scope->entries[k]);
            else
                scope->entries[kept++] = scope->entries[k];
        }
        scope->count = kept;
    }
}

void memory_clear(struct memory *memory)
{
    for (uint32_t i = 0; i < memory->count; i++) {
        for (uint32_t k = 0; k < memory->scopes[i].count; k++)
            entry_clear(&memory->scopes[i].entries[k]);
        mem_free(memory->scopes[i].entries);
        mem_free(memory->scopes[i].name);
    }
    mem_free(memory->scopes);
    mem_free(memory->gone);
    *memory = (struct memory){ 0 };
}
