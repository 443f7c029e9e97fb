/* The functions of libstdc++ that std::list, std::map, std::set and their kin call, with hooks, which
 * libstdc++ itself does not have. Each access is reported at the target's line that calls, so a
 * missing lock shows, and so does an iterator to freed memory. The linker prefers these definitions.
 * Layout and contract are those of bits/stl_list.h and bits/stl_tree.h. */
#include "hooks.h"

#include <stdbool.h>

#define GET(PLACE)                                                                                 \
    ({                                                                                             \
        __typeof__(PLACE) *place = &(PLACE);                                                       \
        plain(place, sizeof *place, READ, caller);                                                 \
        *place;                                                                                    \
    })
#define SET(PLACE, VALUE)                                                                          \
    do {                                                                                           \
        __typeof__(PLACE) value = (VALUE), *at_place = &(PLACE);                                   \
        plain(at_place, sizeof *at_place, WRITE, caller);                                          \
        *at_place = value;                                                                         \
    } while (0)

/* -------------------------------------------------------------- std::__detail::_List_node_base */

struct link {
    struct link *next, *previous;
};

static inline void join(struct link *left, struct link *right, uintptr_t caller) {
    SET(left->next, right);
    SET(right->previous, left);
}

/* _M_hook: puts `own` before `position`. */
EXPORT void _ZNSt8__detail15_List_node_base7_M_hookEPS0_(struct link *own, struct link *position) {
    uintptr_t caller = CALLER;
    struct link *before = GET(position->previous);
    join(own, position, caller);
    join(before, own, caller);
}

/* _M_unhook. */
EXPORT void _ZNSt8__detail15_List_node_base9_M_unhookEv(struct link *own) {
    uintptr_t caller = CALLER;
    struct link *next = GET(own->next);
    join(GET(own->previous), next, caller);
}

/* _M_transfer: moves the nodes from `first` up to `last` before `own`. */
EXPORT void _ZNSt8__detail15_List_node_base11_M_transferEPS0_S1_(struct link *own,
                                                                 struct link *first,
                                                                 struct link *last) {
    uintptr_t caller = CALLER;
    if (own == last) return;
    struct link *end = GET(last->previous), *left = GET(first->previous);
    struct link *before = GET(own->previous);
    join(left, last, caller);
    join(before, first, caller);
    join(end, own, caller);
}

/* _M_reverse: reverses a whole list. */
EXPORT void _ZNSt8__detail15_List_node_base10_M_reverseEv(struct link *own) {
    uintptr_t caller = CALLER;
    struct link *at = own;
    do {
        struct link *next = GET(at->next);
        SET(at->next, GET(at->previous));
        SET(at->previous, next);
        at = next;
    } while (at != own);
}

/* The list with the head `from` gets the head `to`. */
static inline void replace_head(struct link *from, struct link *first, struct link *last,
                                struct link *to, uintptr_t caller) {
    bool is_empty = first == from;
    join(to, is_empty ? to : first, caller);
    join(is_empty ? to : last, to, caller);
}

/* swap: swaps the heads of two lists. */
EXPORT void _ZNSt8__detail15_List_node_base4swapERS0_S1_(struct link *a, struct link *b) {
    uintptr_t caller = CALLER;
    if (a == b) return;
    struct link *first_of_a = GET(a->next), *last_of_a = GET(a->previous);
    struct link *first_of_b = GET(b->next), *last_of_b = GET(b->previous);
    replace_head(b, first_of_b, last_of_b, a, caller);
    replace_head(a, first_of_a, last_of_a, b, caller);
}

/* --------------------------------------------------------------------- std::_Rb_tree_node_base */

enum { RED, BLACK };

/* Red-black trees with parents (Cormen, Leiserson, Rivest, Stein: Introduction to Algorithms, 3rd
 * edition, chapter 13), whose head is red and has the root as its parent, and the first and the last
 * node as its children. */
struct node {
    int color;
    struct node *parent, *child[2];
};

static struct node *outermost(struct node *of, int side, uintptr_t caller) {
    for (struct node *child; (child = GET(of->child[side]));) of = child;
    return of;
}

/* The next node on one side; the head, if `of` is the last. */
static struct node *neighbour(struct node *of, int side, uintptr_t caller) {
    /* `of` is the head, which is its own grandparent: the node before the end is the last. */
    if (side == 0 && GET(of->color) == RED && GET(GET(of->parent)->parent) == of) {
        return GET(of->child[1]);
    }
    struct node *child = GET(of->child[side]);
    if (child) return outermost(child, !side, caller);
    struct node *parent = GET(of->parent);
    while (of == GET(parent->child[side])) {
        of = parent;
        parent = GET(of->parent);
    }
    /* Where the root is the last node, the head's child is the root, too. */
    return side == 1 && GET(of->child[1]) == parent ? of : parent;
}

EXPORT struct node *_ZSt18_Rb_tree_incrementPSt18_Rb_tree_node_base(struct node *of) {
    return neighbour(of, 1, CALLER);
}
EXPORT const struct node *_ZSt18_Rb_tree_incrementPKSt18_Rb_tree_node_base(struct node *of) {
    return neighbour(of, 1, CALLER);
}
EXPORT struct node *_ZSt18_Rb_tree_decrementPSt18_Rb_tree_node_base(struct node *of) {
    return neighbour(of, 0, CALLER);
}
EXPORT const struct node *_ZSt18_Rb_tree_decrementPKSt18_Rb_tree_node_base(struct node *of) {
    return neighbour(of, 0, CALLER);
}

/* Puts `to` in the place of `from`, below its parent. */
static void replace(struct node *from, struct node *to, struct node *head, uintptr_t caller) {
    struct node *parent = GET(from->parent);
    if (GET(head->parent) == from) {
        SET(head->parent, to);
    } else {
        SET(parent->child[GET(parent->child[1]) == from], to);
    }
    if (to) SET(to->parent, parent);
}

/* The child on the other side rises, and this node sinks to `side`. */
static void rotate(struct node *of, int side, struct node *head, uintptr_t caller) {
    struct node *riser = GET(of->child[!side]), *inner = GET(riser->child[side]);
    SET(of->child[!side], inner);
    if (inner) SET(inner->parent, of);
    replace(of, riser, head, caller);
    SET(riser->child[side], of);
    SET(of->parent, riser);
}

static bool is_red(struct node *node, uintptr_t caller) {
    return node && GET(node->color) == RED;
}

/* Puts `new` below `parent`, which may be the head. */
EXPORT void _ZSt29_Rb_tree_insert_and_rebalancebPSt18_Rb_tree_node_baseS0_RS_(
    bool left, struct node *new, struct node *parent, struct node *head) {
    uintptr_t caller = CALLER;
    SET(new->parent, parent);
    SET(new->child[0], NULL);
    SET(new->child[1], NULL);
    SET(new->color, RED);
    if (parent == head) {
        SET(head->parent, new);
        SET(head->child[0], new);
        SET(head->child[1], new);
    } else {
        SET(parent->child[!left], new);
        if (GET(head->child[!left]) == parent) SET(head->child[!left], new);
    }
    struct node *at = new;
    while (at != GET(head->parent) && is_red(parent = GET(at->parent), caller)) {
        struct node *above = GET(parent->parent);
        int side = GET(above->child[1]) == parent;
        struct node *uncle = GET(above->child[!side]);
        if (is_red(uncle, caller)) {
            SET(parent->color, BLACK);
            SET(uncle->color, BLACK);
            SET(above->color, RED);
            at = above;
            continue;
        }
        if (GET(parent->child[!side]) == at) {
            rotate(parent, side, head, caller);
            parent = at;
        }
        SET(parent->color, BLACK);
        SET(above->color, RED);
        rotate(above, !side, head, caller);
        break;
    }
    SET(GET(head->parent)->color, BLACK);
}

/* The paths through `at`, which may be NULL, a child of `parent`, have one black node less. */
static void rebalance(struct node *at, struct node *parent, struct node *head, uintptr_t caller) {
    while (at != GET(head->parent) && !is_red(at, caller)) {
        int side = GET(parent->child[1]) == at;
        struct node *sibling = GET(parent->child[!side]);
        if (is_red(sibling, caller)) {
            SET(sibling->color, BLACK);
            SET(parent->color, RED);
            rotate(parent, side, head, caller);
            sibling = GET(parent->child[!side]);
        }
        struct node *near = GET(sibling->child[side]);
        if (!is_red(near, caller) && !is_red(GET(sibling->child[!side]), caller)) {
            SET(sibling->color, RED);
            at = parent;
            parent = GET(at->parent);
            continue;
        }
        if (!is_red(GET(sibling->child[!side]), caller)) {
            SET(near->color, BLACK);
            SET(sibling->color, RED);
            rotate(sibling, !side, head, caller);
            sibling = near;
        }
        SET(sibling->color, GET(parent->color));
        SET(parent->color, BLACK);
        SET(GET(sibling->child[!side])->color, BLACK);
        rotate(parent, side, head, caller);
        return;
    }
    if (at) SET(at->color, BLACK);
}

/* Removes `old`, and gives it back. */
EXPORT struct node *_ZSt28_Rb_tree_rebalance_for_erasePSt18_Rb_tree_node_baseRS_(
    struct node *old, struct node *head) {
    uintptr_t caller = CALLER;
    struct node *left = GET(old->child[0]), *right = GET(old->child[1]);
    for (int side = 0; side < 2; side++) {
        if (GET(head->child[side]) != old) continue;
        struct node *inner = side ? left : right;
        /* The parent of the only node is the head. */
        SET(head->child[side], inner ? outermost(inner, side, caller) : GET(old->parent));
    }
    int color = GET(old->color);
    struct node *at, *parent;
    if (left && right) {
        /* The next node, which has no left child, takes its place. */
        struct node *next = outermost(right, 0, caller);
        at = GET(next->child[1]);
        parent = next == right ? next : GET(next->parent);
        if (next != right) {
            replace(next, at, head, caller);
            SET(next->child[1], right);
            SET(right->parent, next);
        }
        replace(old, next, head, caller);
        SET(next->child[0], left);
        SET(left->parent, next);
        int color_of_next = GET(next->color);
        SET(next->color, color);
        color = color_of_next;
    } else {
        at = left ? left : right;
        parent = GET(old->parent);
        replace(old, at, head, caller);
    }
    if (color == BLACK) rebalance(at, parent, head, caller);
    return old;
}
