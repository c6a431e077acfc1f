// At which step a recovery dies. Its length is not known beforehand, as it depends on the first death. So the
// steps go round by the golden section over the length that was last seen: with first deaths that go on step by step,
// the two meet in pairs from all parts of a run and of a recovery.

export interface RecoverySteps {
  next(): number;
  /** It died there: a recovery may be longer than the last one that was seen whole. */
  died(step: number): void;
  /** It was over before its step came; so many steps it had. */
  wasOver(steps: number): void;
}

const GOLDEN_SECTION = (Math.sqrt(5) - 1) / 2;
const LAST_PART = 0.9;

/** `length` until one was seen; `phase`, from 0 to 1, is where it begins. */
export function recoverySteps(length: number, phase: number): RecoverySteps {
  let reach = length;
  let at = phase;
  return {
    next() {
      const step = 1 + Math.floor(at * reach);
      at = (at + GOLDEN_SECTION) % 1;
      return step;
    },
    died(step) {
      if (step > LAST_PART * reach) reach = Math.ceil(reach / LAST_PART);
    },
    wasOver(steps) {
      reach = steps;
    },
  };
}
