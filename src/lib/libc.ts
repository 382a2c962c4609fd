import { dlopen, FFIType } from "bun:ffi";

/** The names of the C library on Linux: glibc's, musl's on x64 and arm64. */
const NAMES = ["libc.so.6", "libc.musl-x86_64.so.1", "libc.musl-aarch64.so.1"];

const { i32, u64, ptr } = FFIType;
const SYMBOLS = {
  prctl: { args: [i32, u64, u64, u64, u64], returns: i32 },
  waitpid: { args: [i32, ptr, i32], returns: i32 },
} as const;

export type Libc = ReturnType<typeof open>["symbols"];

let opened: Libc | undefined | "none";

/**
 * Calls of Linux that Bun does not offer. Undefined on other systems, and where the library cannot be
 * opened: what rests on it then does less. It is opened at the first call only.
 */
export function libc(): Libc | undefined {
  opened ??= process.platform === "linux" ? openAny() : "none";
  return opened === "none" ? undefined : opened;
}

function openAny(): Libc | "none" {
  for (const name of NAMES) {
    try {
      return open(name).symbols;
    } catch {
      // The next one.
    }
  }
  return "none";
}

function open(name: string) {
  return dlopen(name, SYMBOLS);
}
