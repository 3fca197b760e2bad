# Tests of the runtime: everything that has time, threads, sockets or files.
pqcmav_test(session)
pqcmav_test(session_model)
pqcmav_test(engine_data)
pqcmav_test(engine_attack)
pqcmav_test(engine_liveness)
pqcmav_test(engine_rekey)
