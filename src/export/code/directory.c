// A directory of the structure's own.
static const char *own_directory(void) {
    static char name[] = "/tmp/reproducer-XXXXXX"; // mkdtemp fills it in
    static const char *made;
    if (made == NULL) made = mkdtemp(name);
    if (made == NULL) {
        perror("cannot make a directory in /tmp");
        exit(2);
    }
    return made;
}

