# Builds for 64-bit ARM on another machine, and runs programs in an emulator: on Debian,
# g++-aarch64-linux-gnu, qemu-user, and libjpeg62-turbo-dev, libpng-dev, libssl-dev and libwebp-dev of
# the architecture arm64.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64)
set(CMAKE_DISABLE_FIND_PACKAGE_MPI TRUE) # CMake would find this machine's own
# GCC 12 reports overflows in std::string that do not exist.
set(CMAKE_CXX_FLAGS_INIT "-Wno-array-bounds -Wno-stringop-overflow")
