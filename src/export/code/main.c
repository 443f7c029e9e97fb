int main(int argc, char **argv) {
    if (argc > 2) hang_seconds = atoi(argv[2]);
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (shows_it(now() + (argc > 1 ? atof(argv[1]) : SECONDS))) {
        tell();
        printf("REPRODUCED in round %lu: %s\n", rounds, FINDING);
        return 1;
    }
    if (!TELL_AT_ONCE) tell();
    printf("not seen in %lu round%s (the last one is above)\n", rounds, rounds == 1 ? "" : "s");
    if (out_of_turn)
        puts("a thread did not end its turn: the code waits where it did not in the finding, or the "
             "machine is busy");
    return 0;
}
