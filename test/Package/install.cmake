# Installs BUILD, then moves it to PREFIX: what only works where it was
# installed does not work afterwards.
unset(ENV{DESTDIR})
set(staging ${PREFIX}.staging)
file(REMOVE_RECURSE ${PREFIX} ${staging})
execute_process(
  COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${staging}
  OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
file(RENAME ${staging} ${PREFIX})
