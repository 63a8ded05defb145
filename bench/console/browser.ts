import { readFileSync } from 'node:fs';
import { chromium, type Browser, type BrowserContext, type CDPSession, type Page } from 'playwright-core';

const CHROMIUM = process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium';

export interface Opened {
  readonly browser: Browser;
  readonly context: BrowserContext;
  readonly page: Page;
  readonly tools: CDPSession;
}

/** A browser of its own with one empty page, for the time of `work`. */
export async function withPage<T>(work: (opened: Opened) => Promise<T>): Promise<T> {
  const browser = await chromium.launch({
    executablePath: CHROMIUM,
    // The scroll bars are dragged.
    ignoreDefaultArgs: ['--hide-scrollbars'],
    args: [
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
      '--disable-background-networking',
      '--disable-component-update',
    ],
  });
  try {
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
    const page = await context.newPage();
    const tools = await context.newCDPSession(page);
    return await work({ browser, context, page, tools });
  } finally {
    await browser.close();
  }
}

/** Frames and tasks of a page during some work. */
export interface Motion {
  readonly frames: number;
  readonly longestFrameMs: number;
  readonly lateFrames: number;
  /** Longest task of the main thread, by the clock: on a busy machine it also waits for a processor. */
  readonly longestTaskMs: number;
  /** Longest task of the main thread in processor time: that of the page and of the browser's own work for it. */
  readonly longestCpuMs: number;
  readonly longTasks: number;
  /** Tasks that had the processor for more than 50 ms. */
  readonly longCpuTasks: number;
  /** How much of a processor the main thread had. */
  readonly load: number;
}

const LATE_MS = 50;

/** Watches the frames and the main thread of a page during `work`. */
export async function watch({ browser, page }: Opened, work: () => Promise<void>): Promise<Motion> {
  // A page that has just come still has its own beginnings to do.
  await page.waitForTimeout(300);
  await browser.startTracing(page, { categories: ['toplevel'] });
  await page.evaluate(`{
    const frames = (window.benchFrames = []);
    let before = performance.now();
    const step = (now) => {
      frames.push(now - before);
      before = now;
      if (window.benchFrames === frames) requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  }`);
  const started = performance.now();
  await work();
  const wallMs = performance.now() - started;
  const frames = await page.evaluate<number[]>(
    '{ const frames = window.benchFrames ?? []; window.benchFrames = undefined; frames }',
  );
  const tasks = tasksOf(await browser.stopTracing());
  return {
    frames: frames.length,
    longestFrameMs: Math.max(0, ...frames),
    lateFrames: frames.filter((ms) => ms > LATE_MS).length,
    longestTaskMs: tasks.reduce((most, { ms }) => Math.max(most, ms), 0),
    longestCpuMs: tasks.reduce((most, { cpuMs }) => Math.max(most, cpuMs), 0),
    longTasks: tasks.filter(({ ms }) => ms > LATE_MS).length,
    longCpuTasks: tasks.filter(({ cpuMs }) => cpuMs > LATE_MS).length,
    load: tasks.reduce((sum, { cpuMs }) => sum + cpuMs, 0) / wallMs,
  };
}

interface TraceEvent {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  /** In microseconds: by the clock, and of the processor. */
  readonly dur?: number;
  readonly tdur?: number;
  readonly args: { readonly name?: string };
}

/** The tasks of the main thread of the page: of the renderers there are, it is the one that had most to do. */
function tasksOf(trace: Buffer): { readonly ms: number; readonly cpuMs: number }[] {
  const { traceEvents } = JSON.parse(trace.toString()) as { traceEvents: TraceEvent[] }; // as Chromium writes it
  const mains = traceEvents.filter(
    ({ name, args }) => name === 'thread_name' && args.name === 'CrRendererMain',
  );
  const tasks = mains.map(({ pid, tid }) =>
    traceEvents
      .filter(
        (event) => event.name === 'ThreadControllerImpl::RunTask' && event.pid === pid && event.tid === tid,
      )
      .map(({ dur = 0, tdur = 0 }) => ({ ms: dur / 1000, cpuMs: tdur / 1000 })),
  );
  return tasks.toSorted((a, b) => b.length - a.length)[0] ?? [];
}

/** Returns the memory that the scripts of a page keep after a garbage collection, in MB of 1,000,000 bytes. */
export async function heapMb({ tools }: Opened): Promise<number> {
  await tools.send('HeapProfiler.collectGarbage');
  return await usedMb(tools);
}

async function usedMb(tools: CDPSession): Promise<number> {
  await tools.send('Performance.enable');
  const { metrics } = await tools.send('Performance.getMetrics');
  return (metrics.find(({ name }) => name === 'JSHeapUsedSize')?.value ?? Number.NaN) / 1e6;
}

export interface Peak {
  /** Memory of the scripts, garbage included. */
  readonly heapMb: number;
  /** Memory of the process of the page alone, where the system tells. */
  readonly privateMb: number;
}

/** The most memory that a page had during `work`. */
export async function peakOf(opened: Opened, work: () => Promise<void>): Promise<Peak> {
  const pids = await renderersOf(opened.browser);
  let most: Peak = { heapMb: 0, privateMb: 0 };
  const look = async (): Promise<void> => {
    const heap = await usedMb(opened.tools);
    most = {
      heapMb: Math.max(most.heapMb, heap),
      privateMb: Math.max(most.privateMb, ...pids.map(privateMb)),
    };
  };
  const timer = setInterval(() => void look(), 200);
  try {
    await work();
    await look();
  } finally {
    clearInterval(timer);
  }
  return most;
}

async function renderersOf(browser: Browser): Promise<number[]> {
  const tools = await browser.newBrowserCDPSession();
  const { processInfo } = await tools.send('SystemInfo.getProcessInfo');
  await tools.detach();
  return processInfo.filter(({ type }) => type === 'renderer').map(({ id }) => id);
}

function privateMb(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return (Number(/^RssAnon:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024) / 1e6;
  } catch {
    return Number.NaN;
  }
}
