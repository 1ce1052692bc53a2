# Builds for 64-bit ARM on another machine, and runs programs in an emulator: on Debian,
# g++-aarch64-linux-gnu, qemu-user, and libjpeg62-turbo-dev, libpng-dev, libssl-dev and libwebp-dev of
# the architecture arm64.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER clang++-19) # of the set-up; its headers and libraries are those of g++
set(CMAKE_CXX_COMPILER_TARGET aarch64-linux-gnu)
set(CMAKE_EXE_LINKER_FLAGS_INIT -fuse-ld=lld)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L /usr/aarch64-linux-gnu)
set(CMAKE_DISABLE_FIND_PACKAGE_MPI TRUE) # CMake would find this machine's own
set(ENV{PKG_CONFIG_LIBDIR} /usr/lib/aarch64-linux-gnu/pkgconfig) # not this machine's
