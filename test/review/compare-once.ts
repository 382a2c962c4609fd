import { compareInTurns } from "../../src/review/record/comparison-request";

compareInTurns(process.argv[2] as string);
