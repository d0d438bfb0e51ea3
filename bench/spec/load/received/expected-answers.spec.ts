import test from 'ava';
import { ExpectedAnswers } from '../../../load/received/expected-answers.ts';

const answerAt = (second: number, body = '0.75') =>
  `HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nDate: Sat, 21 Nov 2026 07:00:0${second} GMT\r\n` +
  `Content-Length: 4\r\n\r\n${body}`;

function matchesInPieces(expected: ExpectedAnswers, text: string, pieceBytes: number): boolean {
  const bytes = Buffer.from(text);
  for (let position = 0; position < bytes.length; position += pieceBytes) {
    const piece = bytes.subarray(position, position + pieceBytes);
    if (!expected.matches(piece, piece.length, position)) return false;
  }
  return true;
}

test('answers match for any second in them, in pieces of any length', (t) => {
  const text = answerAt(0) + answerAt(0) + answerAt(1) + answerAt(1);
  for (let pieceBytes = 1; pieceBytes <= text.length; pieceBytes++)
    t.true(matchesInPieces(new ExpectedAnswers(answerAt(5), 4), text, pieceBytes), `${pieceBytes} bytes a piece`);
});

test('another value, another header or an invalid date does not match', (t) => {
  const expected = () => new ExpectedAnswers(answerAt(0), 2);
  t.true(matchesInPieces(expected(), answerAt(1) + answerAt(2), 64));
  t.false(matchesInPieces(expected(), answerAt(0) + answerAt(0, '0.76'), 64));
  t.false(matchesInPieces(expected(), answerAt(1, '0.76') + answerAt(1), 500));
  t.false(matchesInPieces(expected(), answerAt(0).replace('no-store', 'no-cache') + answerAt(0), 64));
  t.false(matchesInPieces(expected(), answerAt(0).replace('Sat, 21 Nov', 'Caturday 21') + answerAt(0), 500));
});
