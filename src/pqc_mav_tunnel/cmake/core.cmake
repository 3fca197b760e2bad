target_sources(pqcmav_engine PRIVATE
  src/aead.cpp
  src/aead_openssl.cpp
  src/ascon128a.cpp
  src/error.cpp
  src/kdf.cpp
  src/oqs.cpp
  src/oqs_lookup.cpp
  src/suites.cpp
  src/suites_availability.cpp
  src/suites_table.cpp
  src/x25519.cpp
)
pqcmav_test(ascon128a)
