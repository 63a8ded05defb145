// In each test file.
import { afterAll } from 'vitest';
import { endFile } from './cleanup.ts';

afterAll(endFile);
