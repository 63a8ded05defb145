/** The component that sources made here belong to. */
export const COMPONENT = 'ex-generic-v2';
