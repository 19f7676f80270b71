/* template.h - workflows to begin with. */
#ifndef RONDO_TEMPLATE_H
#define RONDO_TEMPLATE_H

struct template {
    const char *name, *summary;
    const char *flow; // the text of flow.yaml
    const char *more; // what its README says about it
};

extern const struct template templates[]; // a name of NULL at the end; the first is the default

#endif
