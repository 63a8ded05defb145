import { Type } from 'typebox';
import { PackageDocs } from '../package-docs.ts';
import { defineTool } from '../tool.ts';

const docs = new PackageDocs();
/** Characters of a page in one answer. */
const LETTERS = 20_000;

export const searchDocs = defineTool({
  name: 'search_docs',
  title: 'Search the documentation',
  description:
    'Finds sections of the documentation, which has every key of a configuration (docs/configuration.md). Read a section with read_docs before using a key of which you are not sure.',
  input: Type.Object({
    text: Type.String({ minLength: 2, maxLength: 200, description: 'Words to look for.' }),
  }),
  works: 'here',
  async run({ text }) {
    return await Promise.resolve({ found: docs.search(text), pages: docs.pages().length });
  },
});

export const readDocs = defineTool({
  name: 'read_docs',
  title: 'Read a page of the documentation, or a schema',
  description:
    'Returns a page such as docs/getting-started.md, docs/jobs.md or schemas/config.schema.json, or one section of it.',
  input: Type.Object({
    page: Type.String({ description: 'Its name, such as docs/pagination/README.md.' }),
    heading: Type.Optional(Type.String({ description: 'Only this section, with those below it.' })),
    from: Type.Optional(
      Type.Integer({ minimum: 0, description: 'Character to begin at, for pages that are long.' }),
    ),
  }),
  works: 'here',
  async run({ page, heading, from = 0 }) {
    const text = heading === undefined ? docs.read(page) : docs.section(page, heading);
    const end = from + LETTERS;
    const more =
      text.length <= end ? '' : `\n… ${text.length - end} more characters: read on with from: ${end}.`;
    return await Promise.resolve(`${text.slice(from, end).toWellFormed()}${more}`);
  },
});
