/** One field of ps(1) for a process; "" if there is none. */
export function ps(field: string, pid: number): string {
  const { stdout } = Bun.spawnSync(["ps", "-ww", "-o", `${field}=`, "-p", String(pid)]);
  return stdout.toString().trim();
}

/** A zombie does not run: what outlives its Neovim may become a child of the test runner, which waits for none. */
export const isRunning = (pid: number) => /^[^Z]/.test(ps("stat", pid));
