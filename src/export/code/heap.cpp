// ---- Memory that was freed last is handed out first, to whichever thread asks for its size: what
// any allocator may do, done each time.

#include <new>

namespace {
struct Block { Block *next; };
Block *unused_blocks[64];
pthread_mutex_t heap_lock = PTHREAD_MUTEX_INITIALIZER;
const size_t head_size = 16; // in front of each block: which list it belongs to

void *take_block(size_t size) {
    size_t list = (size + 15) / 16;
    pthread_mutex_lock(&heap_lock);
    Block *block = list < 64 ? unused_blocks[list] : nullptr;
    if (block != nullptr) unused_blocks[list] = block->next;
    pthread_mutex_unlock(&heap_lock);
    if (block != nullptr) return block;
    char *memory = static_cast<char *>(malloc(head_size + list * 16 + 16));
    if (memory == nullptr) abort();
    memcpy(memory, &list, sizeof list);
    return memory + head_size;
}
void give_block(void *memory) {
    if (memory == nullptr) return;
    size_t list;
    memcpy(&list, static_cast<char *>(memory) - head_size, sizeof list);
    if (list >= 64) return free(static_cast<char *>(memory) - head_size);
    pthread_mutex_lock(&heap_lock);
    Block *block = new (memory) Block{unused_blocks[list]};
    unused_blocks[list] = block;
    pthread_mutex_unlock(&heap_lock);
}
} // namespace

void *operator new(size_t size) { return take_block(size); }
void operator delete(void *memory) noexcept { give_block(memory); }
void operator delete(void *memory, size_t) noexcept { give_block(memory); }

