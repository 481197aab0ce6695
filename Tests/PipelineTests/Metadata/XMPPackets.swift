// Packets as real programs write them, shortened.

@testable import Pipeline

enum XMPPackets {
    /// Lightroom Classic: simple properties as attributes, the rest as elements; ingredients with rights of their own.
    static let lightroom = """
        <?xpacket begin="\u{FEFF}" id="W5M0MpCehiHzreSzNTczkc9d"?>
        <x:xmpmeta xmlns:x="adobe:ns:meta/" x:xmptk="Adobe XMP Core 7.0-c000 1.000000, 0000/00/00-00:00:00        ">
         <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
          <rdf:Description rdf:about=""
            xmlns:xmp="http://ns.adobe.com/xap/1.0/"
            xmlns:photoshop="http://ns.adobe.com/photoshop/1.0/"
            xmlns:xmpRights="http://ns.adobe.com/xap/1.0/rights/"
            xmlns:xmpMM="http://ns.adobe.com/xap/1.0/mm/"
            xmlns:dc="http://purl.org/dc/elements/1.1/"
            xmlns:exif="http://ns.adobe.com/exif/1.0/"
           xmp:CreatorTool="Adobe Photoshop Lightroom Classic 13.2 (Macintosh)"
           photoshop:Credit="Studio M&#xFC;ller &amp; S&#246;hne"
           xmpRights:Marked="True"
           xmpRights:WebStatement="https://example.com/rights?a=1&amp;b=2"
           exif:GPSLatitude="48,12.345N">
           <xmpMM:Pantry>
            <rdf:Bag>
             <rdf:li>
              <rdf:Description photoshop:Credit="Somebody else">
               <dc:creator><rdf:Seq><rdf:li>Somebody else</rdf:li></rdf:Seq></dc:creator>
               <dc:rights><rdf:Alt><rdf:li xml:lang="x-default">Not this one</rdf:li></rdf:Alt></dc:rights>
              </rdf:Description>
             </rdf:li>
            </rdf:Bag>
           </xmpMM:Pantry>
           <dc:creator>
            <rdf:Seq>
             <rdf:li>Erika Müller</rdf:li>
             <rdf:li>Jean-Luc d&apos;Été</rdf:li>
            </rdf:Seq>
           </dc:creator>
           <dc:rights>
            <rdf:Alt>
             <rdf:li xml:lang="de-DE">© 2024 Müller, alle Rechte vorbehalten</rdf:li>
             <rdf:li xml:lang="x-default">© 2024 Müller, all rights reserved</rdf:li>
            </rdf:Alt>
           </dc:rights>
           <xmpRights:UsageTerms>
            <rdf:Alt>
             <rdf:li xml:lang="x-default">One use only.&#xA;No &lt;re-sale&gt;.</rdf:li>
            </rdf:Alt>
           </xmpRights:UsageTerms>
          </rdf:Description>
         </rdf:RDF>
        </x:xmpmeta>
        <?xpacket end="w"?>
        """

    static let lightroomRights = Rights(
        creator: ["Erika Müller", "Jean-Luc d'Été"],
        copyright: "© 2024 Müller, all rights reserved",
        credit: "Studio Müller & Söhne",
        usageTerms: "One use only.\nNo <re-sale>.",
        webStatement: "https://example.com/rights?a=1&b=2"
    )

    /// ExifTool: single quotes, one Description for each namespace, everything as elements, PLUS in a list.
    static let exifTool = """
        <?xpacket begin='\u{FEFF}' id='W5M0MpCehiHzreSzNTczkc9d'?>
        <x:xmpmeta xmlns:x='adobe:ns:meta/' x:xmptk='Image::ExifTool 12.76'>
        <rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'>

         <rdf:Description rdf:about=''
          xmlns:dc='http://purl.org/dc/elements/1.1/'>
          <dc:creator>
           <rdf:Bag>
            <rdf:li>Ana</rdf:li>
           </rdf:Bag>
          </dc:creator>
          <dc:rights>
           <rdf:Alt>
            <rdf:li xml:lang='x-default'>(c) Ana "the lens" Ruiz</rdf:li>
           </rdf:Alt>
          </dc:rights>
         </rdf:Description>

         <rdf:Description rdf:about=''
          xmlns:photoshop='http://ns.adobe.com/photoshop/1.0/'>
          <photoshop:Credit>Agency</photoshop:Credit>
         </rdf:Description>

         <rdf:Description rdf:about=''
          xmlns:plus='http://ns.useplus.org/ldf/xmp/1.0/'>
          <plus:Licensor>
           <rdf:Seq>
            <rdf:li rdf:parseType='Resource'>
             <plus:LicensorName>Agency</plus:LicensorName>
             <plus:LicensorURL>https://agency.example/buy</plus:LicensorURL>
            </rdf:li>
           </rdf:Seq>
          </plus:Licensor>
         </rdf:Description>

         <rdf:Description rdf:about=''
          xmlns:xmpRights='http://ns.adobe.com/xap/1.0/rights/'>
          <xmpRights:WebStatement>https://agency.example/terms</xmpRights:WebStatement>
         </rdf:Description>
        </rdf:RDF>
        </x:xmpmeta>
        <?xpacket end='w'?>
        """

    /// The example of Creative Commons' own guide, without packet instructions.
    static let creativeCommons = """
        <x:xmpmeta xmlns:x="adobe:ns:meta/">
          <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
            <rdf:Description rdf:about="" xmlns:xapRights="http://ns.adobe.com/xap/1.0/rights/">
              <xapRights:Marked>True</xapRights:Marked>
              <xapRights:WebStatement rdf:resource="https://example.org/photo"/>
              <xapRights:UsageTerms><rdf:Alt><rdf:li xml:lang="x-default">CC BY 4.0</rdf:li></rdf:Alt></xapRights:UsageTerms>
            </rdf:Description>
            <rdf:Description rdf:about="" xmlns:cc="http://creativecommons.org/ns#">
              <cc:license rdf:resource="https://creativecommons.org/licenses/by/4.0/"/>
            </rdf:Description>
          </rdf:RDF>
        </x:xmpmeta>
        """

    /// The same as `<dc:rights>` and friends, with prefixes that lie about what they stand for.
    static let foreignPrefixes = """
        <m:xmpmeta xmlns:m="adobe:ns:meta/">
        <RDF xmlns="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
        <Description r:about="" xmlns:photoshop="http://purl.org/dc/elements/1.1/" xmlns:dc="http://ns.adobe.com/photoshop/1.0/"
            dc:Credit="The credit" photoshop:Credit="Not a credit">
        <photoshop:creator><Seq><li>The creator</li></Seq></photoshop:creator>
        <dc:creator><Seq><li>Not a creator</li></Seq></dc:creator>
        <c:license xmlns:c="http://web.resource.org/cc/" r:resource="http://creativecommons.org/licenses/by/2.0/"/>
        <c:license xmlns:c="https://example.com/other" r:resource="https://example.com/not-this"/>
        </Description>
        </RDF>
        </m:xmpmeta>
        """

    /// A packet around the inside of one Description.
    static func around(_ inside: String, attributes: String = "") -> String {
        """
        <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
        xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:photoshop="http://ns.adobe.com/photoshop/1.0/"
        xmlns:cc="http://creativecommons.org/ns#" xmlns:xmpRights="http://ns.adobe.com/xap/1.0/rights/"
        xmlns:plus="http://ns.useplus.org/ldf/xmp/1.0/"><rdf:Description \(attributes)>\(inside)</rdf:Description></rdf:RDF></x:xmpmeta>
        """
    }
}
