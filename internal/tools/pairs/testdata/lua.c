/* Runs a script. */
#include <stdio.h>
#include "lua.h"
#include "lauxlib.h"
#include "lualib.h"
int main(int argc, char **argv) {
	if (argc != 2) return 2;
	lua_State *l = luaL_newstate();
	luaL_openlibs(l);
	if (luaL_dofile(l, argv[1])) {
		fprintf(stderr, "%s\n", lua_tostring(l, -1));
		return 1;
	}
	lua_close(l);
	return 0;
}
