target_sources(pqcmav_engine PRIVATE
  src/aead.cpp
  src/aead_openssl.cpp
  src/ascon128a.cpp
  src/error.cpp
  src/kdf.cpp
  src/key_file.cpp
  src/key_file_write.cpp
  src/keystore.cpp
  src/keystore_init.cpp
  src/keystore_list.cpp
  src/oqs.cpp
  src/oqs_lookup.cpp
  src/suites.cpp
  src/suites_availability.cpp
  src/suites_table.cpp
  src/x25519.cpp
)
pqcmav_test(aead)
pqcmav_test(ascon128a)
pqcmav_test(kdf)
pqcmav_test(key_file)
pqcmav_test(keystore)
pqcmav_test(oqs)
pqcmav_test(suites)
pqcmav_test(x25519)

if(PQCMAV_BENCH AND NOT PQCMAV_FUZZ)
  add_executable(aead_bench bench/aead_bench.cpp)
  target_link_libraries(aead_bench PRIVATE pqcmav_engine)
  install(TARGETS aead_bench RUNTIME DESTINATION lib/${PROJECT_NAME})
endif()
