export type { Doubt, DoubtCode, Judgement, Proof, Verdict } from './doubt.ts';
export { idOf } from './identity.ts';
export {
  addReaction,
  describeDoubt,
  isOpen,
  JobTally,
  reactionText,
  type DoubtfulRun,
  type JobReport,
  type ReactionReport,
} from './report.ts';
export { isNoAccident, Siblings } from './siblings.ts';
export { wholeDigest } from './row-digest.ts';
export { Witness, type Circle } from './witness.ts';
export { doubtText, proofText } from './words.ts';
