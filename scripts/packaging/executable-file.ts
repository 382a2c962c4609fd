import { loadProblem, oldestSystem } from "./mach-o";
import type { Target } from "./targets";

/** The facts in the header of a program's file. */
export interface ExecutableKind {
  format: Target["format"];
  machine: string;
  /** Only for ELF: the program that loads this one. */
  loader?: string;
  /** Only for Mach-O: the oldest macOS that loads it. */
  system?: string;
}

const ELF_MACHINES: Record<number, string> = { 62: "x64", 183: "arm64" };
const MACH_O_MACHINES: Record<number, string> = { 16777223: "x64", 16777228: "arm64" };
const PE_MACHINES: Record<number, string> = { 34404: "x64", 43620: "arm64" };

const ELF_INTERPRETER = 3;

/** Throws unless `file` is an executable for `target`, which macOS would load. */
export function checkExecutable(file: Buffer, target: Target): void {
  const kind = executableKind(file);
  for (const property of ["format", "machine", "loader", "system"] as const) {
    if (kind[property] === target[property]) continue;
    throw new Error(
      `the executable for ${target.name} has the ${property} ${kind[property] ?? "(none)"}` +
        ` instead of ${target[property] ?? "(none)"}`,
    );
  }
  const problem = target.format === "Mach-O" ? loadProblem(file) : undefined;
  if (problem) throw new Error(`the executable for ${target.name} would not start: ${problem}`);
}

export function executableKind(file: Buffer): ExecutableKind {
  if (file.readUInt32BE(0) === 0x7f454c46) return elf(file);
  if (file.readUInt32LE(0) === 0xfeedfacf) {
    const machine = named(MACH_O_MACHINES, file.readUInt32LE(4));
    const system = oldestSystem(file);
    return { format: "Mach-O", machine, ...(system && { system }) };
  }
  if (file.toString("latin1", 0, 2) === "MZ") {
    const header = file.readUInt32LE(0x3c);
    if (file.toString("latin1", header, header + 4) === "PE\0\0") {
      return { format: "PE", machine: named(PE_MACHINES, file.readUInt16LE(header + 4)) };
    }
  }
  throw new Error("neither an ELF, nor a Mach-O, nor a PE executable");
}

function elf(file: Buffer): ExecutableKind {
  const machine = named(ELF_MACHINES, file.readUInt16LE(18));
  const table = Number(file.readBigUInt64LE(32));
  const [entryBytes, count] = [file.readUInt16LE(54), file.readUInt16LE(56)];
  for (let at = table; at < table + count * entryBytes; at += entryBytes) {
    if (file.readUInt32LE(at) !== ELF_INTERPRETER) continue;
    const start = Number(file.readBigUInt64LE(at + 8));
    const size = Number(file.readBigUInt64LE(at + 32));
    const loader = file.toString("latin1", start, start + size - 1);
    return { format: "ELF", machine, loader };
  }
  return { format: "ELF", machine };
}

function named(machines: Record<number, string>, number: number): string {
  return machines[number] ?? `0x${number.toString(16)}`;
}
