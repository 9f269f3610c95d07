/* ROCm's hipconfig as cubecl-hip-sys asks it: which version, and where ROCm is, which HIP_PATH says. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int count, char **words)
{
    const char *root = getenv("HIP_PATH");
    for (int i = 1; i < count; i++) puts(strcmp(words[i], "--version") == 0 ? "6.4.43484-debian" : root ? root : "");
    return 0;
}
