# SPDX-License-Identifier: Apache-2.0
# The extension module pqc_mav_tunnel._engine.
find_package(Python3 REQUIRED COMPONENTS Interpreter Development)
if(NOT pybind11_DIR)
  execute_process(COMMAND ${Python3_EXECUTABLE} -m pybind11 --cmakedir
    OUTPUT_VARIABLE pybind11_DIR OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
set(PYBIND11_FINDPYTHON ON)
set(Python_EXECUTABLE ${Python3_EXECUTABLE})
find_package(pybind11 REQUIRED)
# NO_EXTRAS: link-time optimization of the bindings takes as long as all of the engine's crypto, and saves nothing here.
pybind11_add_module(_engine NO_EXTRAS python/module.cpp python/bind_engine.cpp python/bind_keys.cpp
  python/convert.cpp)
target_link_libraries(_engine PRIVATE pqcmav_engine nlohmann_json::nlohmann_json)
# What runs often is in the engine; to optimise the bindings in full takes compilers twice as long.
target_compile_options(_engine PRIVATE -O1)
target_precompile_headers(_engine PRIVATE <pybind11/pybind11.h> <pybind11/stl.h>)

# Parts of the engine that only tests reach: no module of a product hands out what they make. Whoever builds the tests in
# a workspace has it beside the engine's (install.cmake).
if(BUILD_TESTING AND ament_cmake_FOUND)
  pybind11_add_module(_testing NO_EXTRAS test/module/module.cpp test/module/parties.cpp test/module/codec.cpp
    python/convert.cpp)
  target_include_directories(_testing PRIVATE python)
  target_link_libraries(_testing PRIVATE pqcmav_engine)
  target_compile_options(_testing PRIVATE -O1)
  set_target_properties(_testing PROPERTIES EXCLUDE_FROM_ALL ${PQCMAV_ON_DEMAND})
  add_dependencies(engine_tests _testing)
endif()
