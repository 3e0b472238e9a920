# Writes OUTPUT with the state of the source tree, only when it has changed, so that nothing is rebuilt for it.
# Called at build time with -DSOURCE=... -DOUTPUT=...
execute_process(COMMAND git -C ${SOURCE} describe --always --dirty --abbrev=12
                OUTPUT_VARIABLE state OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
if(failed OR state STREQUAL "")
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
