/**
 * From now on code that runs often is compiled as early as usual. The executable starts with a compiler that
 * waits longer (`jitPolicy` in scripts/build.ts): a start and most hooks are over before compiling pays.
 */
export function compileEarly(): void {
  Bun.unsafe.setJITPolicy(1);
}
