/** A kind of machine for which a release has an archive. */
export interface Target {
  /** The name in the plugin (lua/claude-code/install/release.lua) and install.sh. */
  name: string;
  /** Bun's name. */
  bun: Bun.Build.CompileTarget;
  format: "ELF" | "Mach-O" | "PE";
  machine: "x64" | "arm64";
  /** The program that loads the executable, if its file names one. */
  loader?: string;
  /** The oldest macOS that it runs on: README.md, install.sh, the help and lua/claude-code/install/ name it. */
  system?: string;
}

/**
 * x64 is Bun's "baseline", which runs on processors without AVX2. In Bun 1.4 it has the same bytes as the other x64.
 */
export const TARGETS: readonly Target[] = [
  {
    name: "linux-x64",
    bun: "bun-linux-x64-baseline",
    format: "ELF",
    machine: "x64",
    loader: "/lib64/ld-linux-x86-64.so.2",
  },
  {
    name: "linux-arm64",
    bun: "bun-linux-arm64",
    format: "ELF",
    machine: "arm64",
    loader: "/lib/ld-linux-aarch64.so.1",
  },
  {
    name: "linux-x64-musl",
    bun: "bun-linux-x64-baseline-musl",
    format: "ELF",
    machine: "x64",
    loader: "/lib/ld-musl-x86_64.so.1",
  },
  {
    name: "linux-arm64-musl",
    bun: "bun-linux-arm64-musl",
    format: "ELF",
    machine: "arm64",
    loader: "/lib/ld-musl-aarch64.so.1",
  },
  {
    name: "darwin-arm64",
    bun: "bun-darwin-arm64",
    format: "Mach-O",
    machine: "arm64",
    system: "13.0",
  },
  { name: "darwin-x64", bun: "bun-darwin-x64", format: "Mach-O", machine: "x64", system: "13.0" },
  { name: "windows-x64", bun: "bun-windows-x64-baseline", format: "PE", machine: "x64" },
  { name: "windows-arm64", bun: "bun-windows-arm64", format: "PE", machine: "arm64" },
];

/** The targets with these names. Throws an error that lists the known names. */
export function targetsNamed(names: string[]): Target[] {
  return names.map((name) => {
    const target = TARGETS.find((candidate) => candidate.name === name);
    if (target) return target;
    const known = TARGETS.map((candidate) => candidate.name).join(", ");
    throw new Error(`unknown target ${name}; the known ones are ${known}`);
  });
}

/** The target of this machine; on Linux that for glibc. */
export function nativeTarget(): Target {
  const system = process.platform === "win32" ? "windows" : process.platform;
  return targetsNamed([`${system}-${process.arch}`])[0] as Target;
}

export function executableName(target: Target): string {
  return target.format === "PE" ? "claude-code-nvim.exe" : "claude-code-nvim";
}
