import { LATEST_PROTOCOL_VERSION, SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, it } from '@jest/globals';
import { LATEST_REVISION, revisionOf, SUPPORTED_VERSIONS } from './revision.js';

describe('supported revisions', () => {
  it('are those of the SDK of the 2025 era', () => {
    expect([...SUPPORTED_VERSIONS].toSorted()).toEqual([...SUPPORTED_PROTOCOL_VERSIONS].toSorted());
    expect(LATEST_REVISION.version).toBe(LATEST_PROTOCOL_VERSION);
  });

  it('are found by their version', () => {
    for (const version of SUPPORTED_VERSIONS) expect(revisionOf(version)?.version).toBe(version);
  });

  it('have batches only in 2025-03-26', () => {
    expect(SUPPORTED_VERSIONS.filter((version) => revisionOf(version)?.allowsBatches)).toEqual([
      '2025-03-26',
    ]);
  });

  it('begin a stream with an empty event only in 2025-11-25', () => {
    expect(SUPPORTED_VERSIONS.filter((version) => revisionOf(version)!.primer('1'))).toEqual(['2025-11-25']);
  });

  it.each(['', '2025-11-26', '2025-11-25 ', '1.0', undefined, null, 20251125, ['2025-11-25']])(
    'do not include %j',
    (version) => {
      expect(revisionOf(version)).toBeUndefined();
    },
  );
});
