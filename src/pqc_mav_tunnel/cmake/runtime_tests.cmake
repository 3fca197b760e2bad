# Tests of the runtime: everything that has time, threads, sockets or files.
pqcmav_test(session)
pqcmav_test(session_model)
