export type { Doubt, DoubtCode, Judgement, Proof, Verdict } from './doubt.ts';
export { describeDoubt, isOpen, JobTally, type DoubtfulRun, type JobReport } from './report.ts';
export { Witness } from './witness.ts';
export { doubtText, proofText } from './words.ts';
