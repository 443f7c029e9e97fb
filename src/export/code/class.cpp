// ---- The structure, and how it is called.

static Tested *structure;
static void make_structure() { structure = new Tested(/* config */); }
static void destroy_structure() { delete structure; }

