/**
 * Programs that the executable has started for its own work and that still run. Whoever ends all that
 * a run of executeCode left behind leaves them, and what they start, alone.
 */
export const ownChildren = new Set<number>();
