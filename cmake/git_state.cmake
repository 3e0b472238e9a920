# Writes the state of the source tree to OUTPUT, only when it has changed, so that nothing is rebuilt for it. Git tells
# the state. In a copy without .git, it is $STEPCAST_GIT_STATE, or the state that calibrate/run_on_gpu.sh --collect has
# left in .gpu-deps/. Called at build time with -DSOURCE=... -DOUTPUT=...
execute_process(COMMAND git -C ${SOURCE} describe --always --dirty --abbrev=12
                OUTPUT_VARIABLE state OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
if(failed)
  set(state "$ENV{STEPCAST_GIT_STATE}")
  if(state STREQUAL "" AND EXISTS ${SOURCE}/.gpu-deps/git-state)
    file(STRINGS ${SOURCE}/.gpu-deps/git-state state LIMIT_COUNT 1)
  endif()
endif()
if(NOT state MATCHES "^[0-9A-Za-z._+/-]+$")
  set(state "unknown")
endif()
set(content "#define STEPCAST_GIT_STATE \"${state}\"\n")
set(previous "")
if(EXISTS ${OUTPUT})
  file(READ ${OUTPUT} previous)
endif()
if(NOT content STREQUAL previous)
  file(WRITE ${OUTPUT} "${content}")
endif()
