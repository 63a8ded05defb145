import { fireEvent, render, screen } from '@testing-library/preact';
import { describe, expect, test } from 'vitest';
import { handFile } from '../../../console/data/handed-file.ts';
import Tables from '../../../console/views/tables/index.tsx';
import Tokens from '../../../console/views/tokens/index.tsx';
import { answer, LIMITED, signIn } from './service.ts';

const MASTER = {
  id: '1',
  description: 'Master token',
  isMasterToken: true,
  canManageBuckets: true,
  canReadAllFileUploads: true,
  canPurgeTrash: true,
  bucketPermissions: {},
  isExpired: false,
  expires: null,
  created: '2026-06-03T12:00:00+0000',
  refreshed: '2026-06-03T12:00:00+0000',
};
const READER = {
  ...MASTER,
  id: '7',
  description: 'reader',
  isMasterToken: false,
  canManageBuckets: false,
  canReadAllFileUploads: false,
  canPurgeTrash: false,
  bucketPermissions: { 'in.c-shop': 'read', 'in.c-log': 'write' },
  creatorToken: { id: '1', description: 'Master token' },
};

const SHOP = { id: 'in.c-shop', name: 'c-shop', stage: 'in', lastChangeDate: null };

const buttons = (): (string | null)[] => screen.getAllByRole('button').map(({ textContent }) => textContent);

describe('the tokens', () => {
  test('are made by the master token', async () => {
    signIn();
    answer({ 'GET tokens': [MASTER, READER] });
    render(<Tokens parts={[]} />);
    await screen.findByRole('link', { name: 'reader' });
    expect(screen.getByRole('button', { name: 'New token' })).toBeTruthy();
    expect(screen.getByText('reads 1 bucket; reads and writes 1 bucket')).toBeTruthy();
    expect(screen.queryByText(/You see your own/)).toBeNull();
  });

  test('are neither refreshed nor deleted by one that only reads', async () => {
    signIn({ ...LIMITED, isReadOnly: true, canManageBuckets: true });
    answer({ 'GET tokens/7': { ...READER, isReadOnly: true, canManageBuckets: true } });
    render(<Tokens parts={['7']} />);
    await screen.findByText(/changes nothing/i);
    expect(screen.queryByRole('button', { name: 'Refresh' })).toBeNull();
    expect(screen.queryByRole('button', { name: 'Delete' })).toBeNull();
  });

  test('are not made by a limited one, which is told why', async () => {
    signIn(LIMITED);
    answer({ 'GET tokens': [READER] });
    render(<Tokens parts={[]} />);
    await screen.findByText('yours');
    expect(screen.queryByRole('button', { name: 'New token' })).toBeNull();
    expect(screen.getByRole('status').textContent).toMatch(/You see your own\.$/);
  });

  test('have rights that the master token changes', async () => {
    signIn();
    answer({ 'GET tokens/7': READER });
    render(<Tokens parts={['7']} />);
    await screen.findByRole('heading', { name: 'reader' });
    expect(buttons()).toEqual(['Change the rights', 'Refresh', 'Delete']);
  });

  test('have rights that a limited one sees, and does not change', async () => {
    signIn(LIMITED);
    answer({ 'GET tokens/7': { ...READER, token: '1-7-very-secret' } });
    render(<Tokens parts={['7']} />);
    await screen.findByRole('heading', { name: 'reader' });
    expect(buttons()).toEqual(['Refresh', 'Delete']);
    expect(screen.getByText('It sees no sources and no runs.')).toBeTruthy();
    expect(document.body.innerHTML).not.toContain('very-secret');
  });

  test('that may not be seen are said to be so, in words', async () => {
    signIn(LIMITED);
    answer({});
    render(<Tokens parts={['1']} />);
    expect((await screen.findByRole('alert')).textContent).toMatch(/^Your token may not see this/);
  });
});

describe('the form of a token', () => {
  test('asks for buckets only where it does not manage all, and sends what was chosen', async () => {
    signIn();
    const asked = answer({
      'GET tokens': [MASTER],
      'GET buckets': [SHOP],
      GET: {
        components: [
          { id: 'ex-generic', name: 'Generic extractor', type: 'extractor' },
          { id: 'other.scheduler', name: 'Scheduler', type: 'other' },
        ],
      },
      'GET configurations/names': [],
      'POST tokens': { ...READER, token: '1-8-secret' },
    });
    render(<Tokens parts={[]} />);
    fireEvent.click(await screen.findByRole('button', { name: 'New token' }));
    fireEvent.input(screen.getByLabelText('Description'), { target: { value: ' loader ' } });
    fireEvent.change(await screen.findByLabelText('Rights to in.c-shop'), { target: { value: 'write' } });
    // Others of the catalogue are for programs, and nothing is made with them.
    expect(screen.getByLabelText(/Generic extractor/)).toBeTruthy();
    expect(screen.queryByLabelText(/Scheduler/)).toBeNull();
    fireEvent.click(screen.getByRole('checkbox', { name: 'Manages all buckets and sources' }));
    expect(screen.queryByLabelText('Rights to in.c-shop')).toBeNull();
    fireEvent.click(screen.getByRole('checkbox', { name: 'Manages all buckets and sources' }));
    fireEvent.click(screen.getByRole('button', { name: 'Make the token' }));
    await screen.findByRole('dialog', { name: 'Copy the token now' });
    expect(screen.getByText('1-8-secret')).toBeTruthy();
    expect(asked.find(({ what }) => what === 'POST tokens')?.body).toEqual({
      description: 'loader',
      bucketPermissions: { 'in.c-shop': 'write' },
      componentAccess: [],
      canReadAllFileUploads: false,
      isReadOnly: false,
      canManageBuckets: false,
    });
    fireEvent.click(screen.getByRole('button', { name: 'I have copied it' }));
    await expect.poll(() => document.body.innerHTML).not.toContain('1-8-secret');
  });
});

describe('buckets', () => {
  const ANSWERS = {
    'GET tables/brief': { tables: [], total: 0, totalRows: 0, totalBytes: 0 },
    'GET buckets': [SHOP],
  };

  test('are made by a token that manages them', async () => {
    signIn();
    answer(ANSWERS);
    render(<Tables parts={[]} />);
    fireEvent.click(await screen.findByRole('button', { name: 'New bucket' }));
    expect(screen.getByLabelText<HTMLInputElement>('Name').required).toBe(true);
  });

  test('are not made by a limited one', async () => {
    signIn(LIMITED);
    answer(ANSWERS);
    render(<Tables parts={[]} />);
    await screen.findByText('There are no tables yet');
    expect(screen.queryByRole('button', { name: 'New bucket' })).toBeNull();
    // It may write nowhere.
    expect(screen.queryByRole('link', { name: 'Load a file' })).toBeNull();
  });

  test('that a limited one loads a file into are those that it may write into', async () => {
    signIn({ ...LIMITED, buckets: { 'in.c-shop': 'write', 'in.c-log': 'read' } });
    answer({ ...ANSWERS, 'GET buckets': [{ ...SHOP, id: 'in.c-log' }, SHOP] });
    handFile(new File(['id,name\n1,Ann\n'], 'users.csv'));
    render(<Tables parts={['new']} />);
    const choice = await screen.findByRole('combobox', { name: 'Bucket' });
    expect([...choice.children].map(({ textContent }) => textContent)).toEqual(['in.c-shop']);
  });
});
