{
  "targets": [
    {
      "target_name": "cuda_driver",
      "sources": [
        "src/addon.cc",
        "src/calls.cc",
        "src/driver_table.cc",
        "src/later.cc",
        "src/memory_calls.cc",
        "src/owned.cc",
        "src/simulator_calls.cc",
        "src/stream_calls.cc"
      ],
      "include_dirs": ["<!(node -p \"require('node-addon-api').include_dir\")"],
      "defines": ["NAPI_VERSION=8", "NAPI_DISABLE_CPP_EXCEPTIONS", "NODE_API_SWALLOW_UNTHROWABLE_EXCEPTIONS"],
      "cflags_cc": ["-std=c++17", "-Wall", "-Wextra"],
      "conditions": [["OS=='linux'", { "libraries": ["-ldl"] }]]
    },
    {
      "target_name": "cuda_sim",
      "type": "shared_library",
      "product_prefix": "",
      "sources": [
        "../sim/access.cpp",
        "../sim/controls.cpp",
        "../sim/decode_arithmetic.cpp",
        "../sim/decode_atomic.cpp",
        "../sim/decode_bits.cpp",
        "../sim/decode_compare.cpp",
        "../sim/decode_convert.cpp",
        "../sim/decode_memory.cpp",
        "../sim/decode_operands.cpp",
        "../sim/decode_warp.cpp",
        "../sim/decoder.cpp",
        "../sim/decoder_finish.cpp",
        "../sim/driver.cpp",
        "../sim/driver_state.cpp",
        "../sim/driver_streams.cpp",
        "../sim/form.cpp",
        "../sim/launch.cpp",
        "../sim/lexer.cpp",
        "../sim/memory.cpp",
        "../sim/module.cpp",
        "../sim/parser.cpp",
        "../sim/races.cpp",
        "../sim/schedule.cpp",
        "../sim/slots.cpp",
        "../sim/token_reader.cpp",
        "../sim/traffic.cpp"
      ],
      # Exact floating point: nothing is contracted, and the order of operations is as written.
      "cflags_cc!": ["-fno-exceptions", "-fno-rtti", "-O3"],
      "cflags_cc": [
        "-std=c++17", "-O2", "-ftree-vectorize", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math",
        "-fvisibility=hidden", "-Wall", "-Wextra"
      ],
      "conditions": [["target_arch=='x64'", { "cflags_cc": ["-mavx2", "-mfma"] }]]
    }
  ]
}
