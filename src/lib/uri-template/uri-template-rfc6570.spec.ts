import { describe, expect, it } from '@jest/globals';
import { UriTemplate } from './uri-template.js';

/** The examples of RFC 6570, sections 1.2 and 3.2: a template and its expansion. */
const EXAMPLES = `
  1.2 {var} value
  1.2 {hello} Hello%20World%21
  1.2 {+var} value
  1.2 {+hello} Hello%20World!
  1.2 {+path}/here /foo/bar/here
  1.2 here?ref={+path} here?ref=/foo/bar
  1.2 X{#var} X#value
  1.2 X{#hello} X#Hello%20World!
  1.2 map?{x,y} map?1024,768
  1.2 {x,hello,y} 1024,Hello%20World%21,768
  1.2 {+x,hello,y} 1024,Hello%20World!,768
  1.2 {+path,x}/here /foo/bar,1024/here
  1.2 {#x,hello,y} #1024,Hello%20World!,768
  1.2 {#path,x}/here #/foo/bar,1024/here
  1.2 X{.var} X.value
  1.2 X{.x,y} X.1024.768
  1.2 {/var} /value
  1.2 {/var,x}/here /value/1024/here
  1.2 {;x,y} ;x=1024;y=768
  1.2 {;x,y,empty} ;x=1024;y=768;empty
  1.2 {?x,y} ?x=1024&y=768
  1.2 {?x,y,empty} ?x=1024&y=768&empty=
  1.2 ?fixed=yes{&x} ?fixed=yes&x=1024
  1.2 {&x,y,empty} &x=1024&y=768&empty=
  3.2.1 {count} one,two,three
  3.2.1 {count*} one,two,three
  3.2.1 {/count} /one,two,three
  3.2.1 {/count*} /one/two/three
  3.2.1 {;count} ;count=one,two,three
  3.2.1 {;count*} ;count=one;count=two;count=three
  3.2.1 {?count} ?count=one,two,three
  3.2.1 {?count*} ?count=one&count=two&count=three
  3.2.1 {&count*} &count=one&count=two&count=three
  3.2.2 {half} 50%25
  3.2.2 ?{x,empty} ?1024,
  3.2.2 ?{x,undef} ?1024
  3.2.2 ?{undef,y} ?768
  3.2.2 {var:3} val
  3.2.2 {var:30} value
  3.2.2 {list} red,green,blue
  3.2.2 {list*} red,green,blue
  3.2.2 {keys} semi,%3B,dot,.,comma,%2C
  3.2.2 {keys*} semi=%3B,dot=.,comma=%2C
  3.2.3 {+half} 50%25
  3.2.3 {base}index http%3A%2F%2Fexample.com%2Fhome%2Findex
  3.2.3 {+base}index http://example.com/home/index
  3.2.3 up{+path}{var}/here up/foo/barvalue/here
  3.2.3 {+path:6}/here /foo/b/here
  3.2.3 {+list} red,green,blue
  3.2.3 {+list*} red,green,blue
  3.2.3 {+keys} semi,;,dot,.,comma,,
  3.2.3 {+keys*} semi=;,dot=.,comma=,
  3.2.4 {#half} #50%25
  3.2.4 foo{#empty} foo#
  3.2.4 foo{#undef} foo
  3.2.4 {#path:6}/here #/foo/b/here
  3.2.4 {#list} #red,green,blue
  3.2.4 {#list*} #red,green,blue
  3.2.4 {#keys} #semi,;,dot,.,comma,,
  3.2.4 {#keys*} #semi=;,dot=.,comma=,
  3.2.5 {.who} .fred
  3.2.5 {.who,who} .fred.fred
  3.2.5 {.half,who} .50%25.fred
  3.2.5 www{.dom*} www.example.com
  3.2.5 X{.empty} X.
  3.2.5 X{.undef} X
  3.2.5 X{.var:3} X.val
  3.2.5 X{.list} X.red,green,blue
  3.2.5 X{.list*} X.red.green.blue
  3.2.5 X{.keys} X.semi,%3B,dot,.,comma,%2C
  3.2.5 X{.keys*} X.semi=%3B.dot=..comma=%2C
  3.2.5 X{.empty_keys} X
  3.2.5 X{.empty_keys*} X
  3.2.6 {/who} /fred
  3.2.6 {/who,who} /fred/fred
  3.2.6 {/half,who} /50%25/fred
  3.2.6 {/who,dub} /fred/me%2Ftoo
  3.2.6 {/var,empty} /value/
  3.2.6 {/var,undef} /value
  3.2.6 {/var:1,var} /v/value
  3.2.6 {/list} /red,green,blue
  3.2.6 {/list*} /red/green/blue
  3.2.6 {/list*,path:4} /red/green/blue/%2Ffoo
  3.2.6 {/keys} /semi,%3B,dot,.,comma,%2C
  3.2.6 {/keys*} /semi=%3B/dot=./comma=%2C
  3.2.7 {;who} ;who=fred
  3.2.7 {;half} ;half=50%25
  3.2.7 {;empty} ;empty
  3.2.7 {;v,empty,who} ;v=6;empty;who=fred
  3.2.7 {;v,bar,who} ;v=6;who=fred
  3.2.7 {;x,y,undef} ;x=1024;y=768
  3.2.7 {;hello:5} ;hello=Hello
  3.2.7 {;list} ;list=red,green,blue
  3.2.7 {;list*} ;list=red;list=green;list=blue
  3.2.7 {;keys} ;keys=semi,%3B,dot,.,comma,%2C
  3.2.7 {;keys*} ;semi=%3B;dot=.;comma=%2C
  3.2.8 {?who} ?who=fred
  3.2.8 {?half} ?half=50%25
  3.2.8 {?x,y,undef} ?x=1024&y=768
  3.2.8 {?var:3} ?var=val
  3.2.8 {?list} ?list=red,green,blue
  3.2.8 {?list*} ?list=red&list=green&list=blue
  3.2.8 {?keys} ?keys=semi,%3B,dot,.,comma,%2C
  3.2.8 {?keys*} ?semi=%3B&dot=.&comma=%2C
  3.2.9 {&who} &who=fred
  3.2.9 {&half} &half=50%25
  3.2.9 {&var:3} &var=val
  3.2.9 {&x,y,undef} &x=1024&y=768
  3.2.9 {&list} &list=red,green,blue
  3.2.9 {&list*} &list=red&list=green&list=blue
  3.2.9 {&keys} &keys=semi,%3B,dot,.,comma,%2C
  3.2.9 {&keys*} &semi=%3B&dot=.&comma=%2C
`;

const rows = EXAMPLES.trim()
  .split('\n')
  .map((line) => line.trim().split(' ') as [string, string, string]);

describe('UriTemplate with the examples of RFC 6570', () => {
  it.each(rows)('section %s: %s matches %s', (_section, text, uri) => {
    const template = UriTemplate.parse(text)!;
    const parts = template.match(uri)!;
    expect(parts).toHaveLength(template.expressions.length);
    expect(template.fill(parts)).toBe(uri);
  });

  // The only exceptions: a URI without a segment is not taken for an instance of the template.
  it.each(['O{empty}X', 'O{undef}X', 'O{+empty}X', 'O{+undef}X'])(
    'does not match OX, the expansion of %s with an empty or undefined value',
    (text) => {
      expect(UriTemplate.parse(text)!.match('OX')).toBeUndefined();
    },
  );
});
